'use strict';
// An exclusive queue belongs to its connection and ends with it; an auto-delete queue ends with its last consumer.
const { connect, main, say } = require('./client');

main(async (exclusive, auto) => {
  const [owner, other] = [await connect(), await connect()];
  const ignore = () => {};

  /** Runs the action on a new channel of the other connection and tells what came of it. */
  async function outcome(action) {
    const channel = await other.createChannel();
    channel.on('error', ignore); // the rejected promise tells the same
    return action(channel).then(() => 'ok', (error) => error.code);
  }

  await (await owner.createChannel()).assertQueue(exclusive, { exclusive: true });
  say('declare by another:', await outcome((ch) => ch.assertQueue(exclusive, { exclusive: true })));
  say('consume by another:', await outcome((ch) => ch.consume(exclusive, ignore)));
  say('publish by another:', await outcome(async (ch) => { ch.sendToQueue(exclusive, Buffer.alloc(0)); await ch.close(); }));
  await owner.close();
  say('after its owner:', await outcome((ch) => ch.checkQueue(exclusive)));
  const channel = await other.createChannel();
  await channel.assertQueue(auto, { durable: false, autoDelete: true });
  const tags = [];
  for (let i = 0; i < 2; i++) tags.push((await channel.consume(auto, ignore)).consumerTag);
  await channel.cancel(tags[0]);
  say('one consumer left:', await outcome((ch) => ch.checkQueue(auto)));
  await channel.cancel(tags[1]);
  say('no consumer left:', await outcome((ch) => ch.checkQueue(auto)));
  await other.close();
});
