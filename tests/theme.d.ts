/** What Material's script offers: each page that is shown, the first one and those after it. */
declare const document$: { subscribe(show: () => void): void };
