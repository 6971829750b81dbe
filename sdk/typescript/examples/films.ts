import { Client, Worker } from "@leasehold/sdk";

const server = { url: process.env.LEASEHOLD_URL ?? "http://127.0.0.1:8080", key: process.env.LEASEHOLD_KEY ?? "" };

const worker = new Worker({ ...server, slots: 2 });
worker.handler("films.render", async (ctx, { film }: { film: number }) => {
  await ctx.progress(40, "half of the frames");
  await ctx.log.info("rendered", { film, frames: 240 });
  return { frames: 240 };
});
const working = worker.main(); // until SIGTERM; a second signal does not wait for what runs

const client = new Client(server);
const made = await client.enqueue("films.render", { film: 7 }, { queue: "gpu", key: "film-7", force: true }); // its worker is starting
for await (const event of client.follow(made.job_id)) {
  console.log(event.type, event.progress, event.message); // goes on where a stream broke
}
console.log(await client.result(made.job_id));
worker.stop();
await working;
