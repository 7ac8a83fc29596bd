import io.debezium.embedded.Connect;
import io.debezium.engine.ChangeEvent;
import io.debezium.engine.DebeziumEngine;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.connect.source.SourceRecord;

/** Debezium's embedded engine with its event router, tuned: every batch is sent, flushed, awaited and then confirmed. */
public final class DebeziumRelay {

    private static final String TOPIC = System.getenv("TOPIC");

    private DebeziumRelay() {
    }

    public static void main(String[] arguments) {
        KafkaProducer<byte[], byte[]> producer = producer();
        DebeziumEngine<ChangeEvent<SourceRecord, SourceRecord>> engine = DebeziumEngine.create(Connect.class)
                .using(settings())
                .notifying((records, committer) -> {
                    send(producer, records);
                    for (ChangeEvent<SourceRecord, SourceRecord> record : records) {
                        committer.markProcessed(record);
                    }
                    committer.markBatchFinished();
                })
                .using((succeeded, message, error) -> {
                    System.err.println("the engine ended: " + message);
                    if (error != null) {
                        error.printStackTrace();
                    }
                    Runtime.getRuntime().halt(succeeded ? 0 : 3);
                })
                .build();
        Executors.newSingleThreadExecutor().execute(engine);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try {
                engine.close();
            } catch (IOException | IllegalStateException error) {
                System.err.println("the engine did not close: " + error);
            }
        }));
    }

    private static void send(KafkaProducer<byte[], byte[]> producer, List<ChangeEvent<SourceRecord, SourceRecord>> records)
            throws InterruptedException {
        List<Future<RecordMetadata>> sends = new ArrayList<>(records.size());
        for (ChangeEvent<SourceRecord, SourceRecord> record : records) {
            SourceRecord source = record.value();
            if (source != null && source.value() != null && TOPIC.equals(source.topic())) {
                sends.add(producer.send(new ProducerRecord<>(TOPIC, bytes(source.key()), bytes(source.value()))));
            }
        }
        producer.flush();
        for (Future<RecordMetadata> send : sends) {
            try {
                send.get();
            } catch (ExecutionException error) {
                throw new IllegalStateException(error);
            }
        }
    }

    private static byte[] bytes(Object text) {
        return text.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static KafkaProducer<byte[], byte[]> producer() {
        Map<String, Object> settings = Map.of(
                "bootstrap.servers", System.getenv("KAFKA"),
                "acks", "all",
                "enable.idempotence", "true",
                "linger.ms", "5",
                "batch.size", "131072");
        return new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer());
    }

    private static Properties settings() {
        Properties settings = new Properties();
        settings.setProperty("name", "outbox");
        settings.setProperty("connector.class", "io.debezium.connector.postgresql.PostgresConnector");
        settings.setProperty("offset.storage", "org.apache.kafka.connect.storage.FileOffsetBackingStore");
        settings.setProperty("offset.storage.file.filename", System.getenv("OFFSETS"));
        settings.setProperty("offset.flush.interval.ms", "1000");
        settings.setProperty("database.hostname", System.getenv("DATABASE_HOST"));
        settings.setProperty("database.port", System.getenv("DATABASE_PORT"));
        settings.setProperty("database.user", System.getenv("DATABASE_USER"));
        settings.setProperty("database.password", System.getenv("DATABASE_PASSWORD"));
        settings.setProperty("database.dbname", System.getenv("DATABASE_NAME"));
        settings.setProperty("topic.prefix", "bench");
        settings.setProperty("plugin.name", "pgoutput");
        settings.setProperty("slot.name", "bench_debezium");
        settings.setProperty("publication.name", "bench_debezium");
        settings.setProperty("publication.autocreate.mode", "disabled");
        settings.setProperty("table.include.list", "public.outbox");
        settings.setProperty("snapshot.mode", "no_data");
        settings.setProperty("tombstones.on.delete", "false");
        settings.setProperty("max.batch.size", "8192");
        settings.setProperty("max.queue.size", "32768");
        settings.setProperty("poll.interval.ms", "10");
        settings.setProperty("transforms", "outbox");
        settings.setProperty("transforms.outbox.type", "io.debezium.transforms.outbox.EventRouter");
        settings.setProperty("transforms.outbox.route.topic.replacement", TOPIC);
        return settings;
    }
}
