'use strict';
// Tutorial 2, work queue: of two workers with prefetch 1 the first never finishes, so the second does all the rest.
const { connect, deferred, main, say } = require('./client');

main(async (queue) => {
  const connection = await connect();
  const channel = await connection.createChannel();
  await channel.assertQueue(queue, { durable: true });
  const done = [];
  const all = deferred();
  for (const name of ['busy', 'idle']) {
    const worker = await connection.createChannel();
    await worker.prefetch(1);
    await worker.consume(queue, (message) => {
      if (done.push(`${name} ${message.content}`) === 5) all.resolve();
      if (name === 'idle') worker.ack(message);
    });
  }
  for (let task = 1; task <= 5; task++) channel.sendToQueue(queue, Buffer.from(`task ${task}`), { persistent: true });
  await all.promise;
  say(done.sort().join('\n'));
  await connection.close();
});
