/** A page's request to the service worker that stores the book, and the state that it reports. */
interface OfflineRequest {
  ask: "keep" | "remove" | "state";
  language: "en" | "zh";
}
interface OfflineState {
  language: "en" | "zh";
  /** Unfinished: requested and partly downloaded, but not used yet. */
  state: "absent" | "keeping" | "unfinished" | "kept";
  /** While keeping: bytes downloaded, and bytes in total. */
  done?: number;
  bytes?: number;
  /** Kept: the version, and the time when it was completed. */
  key?: string;
  date?: number;
  /** Why the last attempt failed. */
  reason?: "network" | "room" | "changed";
}
