'use strict';
// A low priority behind one that never ends: QUEUE none|burst|aging NUMBER. Prints after how many others the low one was served.
const { connect, deferred, main, say } = require('./client');

main(async (queue, remedy, number) => {
  const added = { none: {}, burst: { 'x-priority-max-burst': Number(number) }, aging: { 'x-priority-aging': Number(number) } }[remedy];
  const connection = await connect({}, { noDelay: true }); // else each ack waits 40 ms for the system to send it
  const channel = await connection.createChannel();
  await channel.assertQueue(queue, { durable: false, maxPriority: 9, arguments: added });
  await channel.prefetch(1);
  const publish = (body, priority) => channel.sendToQueue(queue, Buffer.from(body), { priority });
  const { promise: over, resolve } = deferred();
  let served = 0;

  const began = performance.now();
  publish('low', 1);
  for (let i = 0; i < 5; i++) publish('high', 9);
  // Each one of high priority is followed by another before it is settled, so that there is always one.
  await channel.consume(queue, (message) => {
    if (message.content.toString() === 'low') {
      say('low after', served, 'and', Math.floor(performance.now() - began), 'ms');
      resolve();
    } else if (remedy === 'none' && served === 300) {
      say('starved');
      resolve();
    } else {
      served++;
      publish('high', 9);
    }
    channel.ack(message);
  });
  await over;
  await connection.close();
});
