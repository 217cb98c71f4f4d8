'use strict';
// A tenant that floods a queue beside one that sends a message now and then: QUEUE. Prints how many messages of the modest one were served, and how
// many of the flood were at most while one of them waited; then whether the flood is still there.
const { connect, deferred, main, say } = require('./client');

const FLOOD = 2000, MODEST = 20, BETWEEN = 10;

main(async (queue) => {
  const connection = await connect({}, { noDelay: true }); // else each ack waits 40 ms for the system to send it
  const channel = await connection.createChannel();
  await channel.assertQueue(queue, { durable: false, arguments: { 'x-fair-by': 'header:tenant' } });
  const confirmed = await connection.createConfirmChannel(); // so that the message is in the queue before the next one is asked for
  const publish = (through, tenant) => through.sendToQueue(queue, Buffer.from(tenant), { headers: { tenant } });
  const { promise: over, resolve } = deferred();
  let served = 0, waited = 0, most = 0, modest = 0;

  for (let i = 0; i < FLOOD; i++) publish(channel, 'flood');
  await channel.prefetch(1);
  await channel.consume(queue, async (message) => {
    if (message.content.toString() === 'modest') {
      most = Math.max(most, waited);
      if (++modest === MODEST) {
        say(modest, 'waited for', most);
        say(served < FLOOD ? 'flooded' : 'dry');
        resolve();
      }
    } else {
      waited++;
      if (++served % BETWEEN === 0) {
        publish(confirmed, 'modest');
        await confirmed.waitForConfirms();
        waited = 0;
      }
    }
    channel.ack(message);
  });
  await over;
  await connection.close();
});
