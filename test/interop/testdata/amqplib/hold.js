'use strict';
// Consumers that keep what they get: QUEUE PREFETCH CONSUMERS manual|auto. Prints consumer, redelivered and body of each delivery.
const { connect, main, say } = require('./client');

main(async (queue, prefetch, consumers, mode) => {
  const connection = await connect();
  for (let number = 0; number < Number(consumers); number++) {
    const channel = await connection.createChannel();
    await channel.prefetch(Number(prefetch));
    await channel.consume(queue, (message) => {
      say(`${number} ${message.fields.redelivered ? 1 : 0} ${message.content}`);
    }, { noAck: mode === 'auto' });
  }
  say('ready');
});
