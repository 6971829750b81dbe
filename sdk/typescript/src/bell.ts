/** Something to wait for that may happen again and again. */
export class Bell {
  #rung = false;
  #waiting: (() => void)[] = [];

  get isRung(): boolean {
    return this.#rung;
  }

  ring(): void {
    this.#rung = true;
    for (const wake of this.#waiting.splice(0)) wake();
  }

  clear(): void {
    this.#rung = false;
  }

  async wait(): Promise<void> {
    if (!this.#rung) await new Promise<void>((wake) => this.#waiting.push(wake));
  }

  /** The same, for so long at most. */
  async waitAtMost(seconds: number): Promise<void> {
    if (this.#rung) return;
    await new Promise<void>((wake) => {
      const timer = setTimeout(wake, Math.max(0, seconds) * 1000);
      this.#waiting.push(() => {
        clearTimeout(timer);
        wake();
      });
    });
  }
}
