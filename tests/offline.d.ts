/** What the page says to the service worker that keeps the book, and what it hears from it. */
interface Asked {
  ask: "keep" | "remove" | "state";
  language: "en" | "zh";
}
interface Told {
  language: "en" | "zh";
  /** Unfinished: the reader wants it, part of it is here, and none of that is read. */
  state: "absent" | "keeping" | "unfinished" | "kept";
  /** While keeping: bytes here, and of the whole. */
  done?: number;
  bytes?: number;
  /** Kept: the version, and when it was made whole. */
  key?: string;
  date?: number;
  /** Why the last try failed. */
  reason?: "network" | "room" | "changed";
}
