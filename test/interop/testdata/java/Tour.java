import com.rabbitmq.client.*;
import java.io.IOException;
import java.util.*;
import java.util.concurrent.*;

/** What a service does in a day: confirms, returns, consuming in order, headers of every type, a refusal, a transaction, an RPC. */
public class Tour {
  static final int COUNT = 1000;
  static String queue;

  static void say(Object line) {
    System.out.println(line);
    System.out.flush();
  }

  static Map<String, Object> headers() {
    Map<String, Object> h = new TreeMap<>();
    h.put("text", "é");
    h.put("number", 1L << 40);
    h.put("flag", true);
    h.put("real", 1.5);
    h.put("when", new Date(1_700_000_000_000L));
    h.put("none", null);
    h.put("list", List.of(1, 2, 3));
    h.put("table", Map.of("k", 7));
    return h;
  }

  /** The text of what a client got, strings of the protocol being no Java strings. */
  static String text(Object value) {
    if (value instanceof Map<?, ?> map) {
      StringJoiner parts = new StringJoiner(", ", "{", "}");
      for (Object key : new TreeSet<>(map.keySet())) parts.add(key + "=" + text(map.get(key)));
      return parts.toString();
    }
    return value instanceof Date date ? Long.toString(date.getTime() / 1000) : String.valueOf(value);
  }

  public static void main(String[] args) throws Exception {
    ConnectionFactory factory = new ConnectionFactory();
    factory.setUri(args[0]);
    queue = args[1];
    try (Connection connection = factory.newConnection("tour")) {
      Channel channel = connection.createChannel();
      channel.queueDeclare(queue, true, false, false, Map.of("x-max-length", 100_000, "x-dead-letter-exchange", "amq.fanout"));
      channel.addReturnListener((code, reason, exchange, key, properties, body) -> say("returned " + code + " " + reason));
      channel.confirmSelect();
      AMQP.BasicProperties properties = new AMQP.BasicProperties.Builder().deliveryMode(2).headers(headers()).build();
      for (int i = 0; i < COUNT; i++) channel.basicPublish("", queue, properties, Integer.toString(i).getBytes());
      channel.basicPublish("", "nobody", true, null, new byte[0]);
      channel.waitForConfirmsOrDie();
      say("confirmed " + channel.messageCount(queue));
      consume(connection);
      refused(connection);
      commit(connection);
      call(connection);
      channel.queueDelete(queue);
    }
  }

  static void consume(Connection connection) throws Exception {
    Channel channel = connection.createChannel();
    channel.basicQos(100);
    CompletableFuture<String> end = new CompletableFuture<>();
    channel.basicConsume(queue, false, new DefaultConsumer(channel) {
      int next;

      @Override
      public void handleDelivery(String tag, Envelope envelope, AMQP.BasicProperties properties, byte[] body) throws IOException {
        if (!new String(body).equals(Integer.toString(next++))) end.complete("out of order: " + new String(body));
        channel.basicAck(envelope.getDeliveryTag(), false);
        if (next == COUNT) end.complete("consumed " + next + " in order, with " + text(properties.getHeaders()));
      }
    });
    say(end.get());
    channel.close();
  }

  static void refused(Connection connection) throws Exception {
    try {
      connection.createChannel().queueDeclare(queue, false, false, false, null);
    } catch (IOException refusal) {
      ShutdownSignalException cause = (ShutdownSignalException) refusal.getCause();
      AMQP.Channel.Close close = (AMQP.Channel.Close) cause.getReason();
      say(close.getReplyCode() + " " + close.getReplyText());
    }
  }

  static void commit(Connection connection) throws Exception {
    Channel channel = connection.createChannel();
    channel.txSelect();
    channel.basicPublish("", queue, null, new byte[0]);
    channel.txRollback();
    channel.basicPublish("", queue, null, new byte[0]);
    channel.txCommit();
    say("committed " + channel.queuePurge(queue).getMessageCount());
    channel.close();
  }

  static void call(Connection connection) throws Exception {
    Channel server = connection.createChannel();
    String requests = server.queueDeclare().getQueue();
    server.basicConsume(requests, true, new DefaultConsumer(server) {
      @Override
      public void handleDelivery(String tag, Envelope envelope, AMQP.BasicProperties properties, byte[] body) throws IOException {
        AMQP.BasicProperties reply = new AMQP.BasicProperties.Builder().correlationId(properties.getCorrelationId()).build();
        server.basicPublish("", properties.getReplyTo(), reply, new StringBuilder(new String(body)).reverse().toString().getBytes());
      }
    });
    RpcClient client = new RpcClient(connection.createChannel(), "", requests);
    say("called " + client.stringCall("abc"));
  }
}
