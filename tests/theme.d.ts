/** What Material's script offers: tells when a page is shown. */
declare const document$: { subscribe(show: () => void): void };

/** What Material's templates offer: stores a value, if the browser allows it. */
declare function __md_set(key: string, value: unknown): void;
