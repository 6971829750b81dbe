/** Server-sent events: pieces of text in, messages out. */

export interface Message {
  event: string;
  id: string;
  data: unknown;
}

/** Takes text as it comes; gives the messages that are whole. */
export class Reader {
  #rest = "";
  #event = "message";
  #id = "";
  #data: string[] = [];

  take(text: string): Message[] {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop()!;
    return lines.map((line) => this.#line(line.replace(/\r$/, ""))).filter((found) => found !== null);
  }

  #line(line: string): Message | null {
    if (line === "") return this.#end();
    const [, name = "", value = ""] = /^([^:]*):? ?(.*)$/s.exec(line)!;
    if (name === "event") this.#event = value;
    if (name === "id") this.#id = value;
    if (name === "data") this.#data.push(value);
    return null;
  }

  #end(): Message | null {
    const found = { event: this.#event, id: this.#id, data: this.#data.join("\n") };
    this.#event = "message";
    this.#id = "";
    this.#data = [];
    return found.data === "" ? null : { ...found, data: JSON.parse(found.data) as unknown };
  }
}
