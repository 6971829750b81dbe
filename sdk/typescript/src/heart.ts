/**
 * The beats of a worker, from a thread of its own: a handler that blocks the event loop does not cost the leases.
 *
 * The worker posts what it holds whenever that changes, and hears what the server said of it.
 */

import { parentPort, workerData } from "node:worker_threads";

import { now } from "./clock.js";
import { LeaseholdError, WorkerLost } from "./errors.js";
import { type ClientOptions, Http } from "./http.js";

export interface HeartData {
  options: ClientOptions;
  lease_s: number;
}

/** What the worker says: who it is (null: nobody now), what it runs, and when it was last heard by the server. */
export interface Holding {
  worker_id: string | null;
  held: string[];
  heard_at: number;
}

/** What the heart says: how a beat was answered, or that the leases must be taken for lost. */
export type Beat =
  | { worker_id: string; cancel: string[]; lost: string[]; why?: never }
  | { worker_id: string; why: string; cancel?: never; lost?: never };

/** Stop before the server would give the leases to others. */
const SAFE = 0.9;

class Heart {
  readonly #http: Http;
  readonly #lease_s: number;
  #holding: Holding = { worker_id: null, held: [], heard_at: 0 };

  constructor({ options, lease_s }: HeartData) {
    this.#http = new Http(options);
    this.#lease_s = lease_s;
  }

  hold(holding: Holding): void {
    const isNew = holding.worker_id !== this.#holding.worker_id;
    this.#holding = { ...holding, heard_at: isNew ? holding.heard_at : this.#holding.heard_at };
  }

  /** Beat, and again after a third of the lease, or sooner when nobody answered. */
  async beat(): Promise<void> {
    const { worker_id, held } = this.#holding;
    const answered = worker_id === null || (await this.#ask(worker_id, held));
    const pause_s = answered ? this.#lease_s / 3 : Math.min(1, this.#lease_s / 10, Math.max(0.01, this.#left_s()));
    setTimeout(() => void this.beat(), pause_s * 1000);
  }

  /** How long the leases are certainly ours. */
  #left_s(): number {
    return this.#holding.heard_at + this.#lease_s * SAFE - now();
  }

  async #ask(worker_id: string, held: string[]): Promise<boolean> {
    const sent_at = now();
    const timeout_s = Math.max(0.05, Math.min(this.#lease_s / 3, this.#left_s()));
    try {
      const asks = { path: { worker_id }, body: { held } };
      const heard = await this.#http.ask("workers.beat", asks, { tries: 1, timeout_s });
      if (worker_id === this.#holding.worker_id) this.#holding.heard_at = sent_at;
      tell({ worker_id, cancel: heard.cancel, lost: heard.lost });
      return true;
    } catch (problem) {
      const why = problem instanceof LeaseholdError ? problem.message : String(problem);
      if (problem instanceof WorkerLost) tell({ worker_id, why });
      else if (worker_id === this.#holding.worker_id && this.#left_s() <= 0) {
        tell({ worker_id, why: `no beat got through: ${why}` });
      }
      return false;
    }
  }
}

function tell(beat: Beat): void {
  parentPort!.postMessage(beat);
}

const data = workerData as HeartData;
const heart = new Heart(data);
parentPort!.on("message", (holding: Holding) => heart.hold(holding));
setTimeout(() => void heart.beat(), (data.lease_s / 3) * 1000);
