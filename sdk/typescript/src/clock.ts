/** Seconds of a clock that only goes forward, the same for all threads of the process. */
export function now(): number {
  return Number(process.hrtime.bigint()) / 1e9;
}
