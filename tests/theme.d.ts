/** What Material's script offers: tells when a page is shown. */
declare const document$: { subscribe(show: () => void): void };
