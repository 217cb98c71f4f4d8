'use strict';
// Bodies around the limit of a frame: QUEUE FRAME_MAX SIZE... Prints each size that came back whole.
const { connect, main, say, take } = require('./client');

const pattern = Buffer.from(Array.from({ length: 251 }, (_, i) => (i * 7) % 251));
const body = (size) => Buffer.alloc(size, pattern);

main(async (queue, frameMax, ...sizes) => {
  const connection = await connect({ frameMax });
  const channel = await connection.createChannel();
  await channel.assertQueue(queue, { durable: false });
  for (const size of sizes) channel.sendToQueue(queue, body(Number(size)));
  for (const [i, { content }] of (await take(channel, queue, sizes.length)).entries()) {
    say(sizes[i], content.equals(body(Number(sizes[i]))) ? 'whole' : `damaged, ${content.length} octets`);
  }
  await connection.close();
});
