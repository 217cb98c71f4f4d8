'use strict';
// Competing consumers on a queue with groups: QUEUE PREFETCH CONSUMERS NACKS, the last in percent. Prints each delivery and how it was settled:
// monotonic time in ns, consumer, group, number in it, redelivered, ack or nack.
const { connect, main, say } = require('./client');

main(async (queue, prefetch, consumers, nacks) => {
  const connection = await connect();
  for (let number = 0; number < Number(consumers); number++) {
    const channel = await connection.createChannel();
    await channel.prefetch(Number(prefetch));
    await channel.consume(queue, (message) => {
      const began = process.hrtime.bigint();
      const nack = Math.random() * 100 < Number(nacks);
      // The line is out before the broker knows: nobody else can have printed a later one of the group.
      say(String(began), number, message.content.toString(), message.fields.redelivered ? 1 : 0, nack ? 'nack' : 'ack');
      if (nack) channel.nack(message);
      else channel.ack(message);
    });
  }
  say('ready');
});
