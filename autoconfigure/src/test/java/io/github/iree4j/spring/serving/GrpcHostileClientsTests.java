package io.github.iree4j.spring.serving;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.IreeRuntime;
import io.github.iree4j.spring.Poll;
import io.github.iree4j.spring.TestModules;
import io.github.iree4j.spring.http.BodyLimits;
import io.github.iree4j.spring.http.RequestCounts.Work;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Compressor;
import io.grpc.CompressorRegistry;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCalls;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.grpc.server.lifecycle.GrpcServerLifecycle;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.test.context.TestPropertySource;

/** Clients of gRPC that announce more than sent, send more than permitted, or do not read. */
@SpringBootTest(
        classes = ProtocolConformanceTests.Application.class,
        webEnvironment = WebEnvironment.NONE,
        properties = {
            "spring.grpc.server.enabled=true",
            "spring.grpc.server.port=0",
            "iree.serving.enabled=true",
            "iree.http.max-request-size=7MB",
            "iree.http.max-concurrent-bodies=4",
            "iree.http.max-in-flight-size=8MB",
            "iree.http.body-timeout=10m",
            "iree.serving.grpc.max-calls=400",
        })
@Timeout(600)
class GrpcHostileClientsTests {

    private static final int AWAITED = 4;
    private static final int MB = 1 << 20;

    @Autowired
    private GrpcServerLifecycle server;

    @Autowired
    private IreeRuntime runtime;

    @Autowired
    private BodyLimits limits;

    @Autowired
    private OpenInferenceGrpcService service;

    private final List<HalfCalls> open = new ArrayList<>();
    private GrpcClient client;
    private long idle;

    @DynamicPropertySource
    static void modules(DynamicPropertyRegistry registry) {
        registry.add(
                "iree.modules.values.location",
                () -> TestModules.fixture("3.11.0/cpu/add.vmfb").toString());
    }

    @BeforeEach
    void begin() {
        client = new GrpcClient(server.getPort());
        idle = memory();
    }

    @AfterEach
    void everythingIsGivenBackWhenClientsDisconnect() throws Exception {
        for (HalfCalls each : open) {
            each.close();
        }
        client.close();
        while (limits.awaited() != 0 || limits.inFlight() != 0 || memory() != idle) {
            Poll.pause(); // the class's timeout fails what stays
        }
    }

    private long memory() {
        return runtime.device().allocator().statistics().bytesLive();
    }

    private HalfCalls connect() throws IOException {
        HalfCalls connection = new HalfCalls(server.getPort());
        open.add(connection);
        return connection;
    }

    private byte[] echo(int bytes) {
        return client.inference("values.echo_ui8")
                .input("x", "UINT8", List.of((long) bytes))
                .raw(new byte[bytes])
                .encoded();
    }

    private void awaitBodies(int count) {
        while (limits.awaited() != count) {
            Poll.pause();
        }
    }

    @Test
    void announcedMessagesTakeNoMemory() throws IOException {
        HalfCalls connection = connect();
        for (int i = 0; i < AWAITED; i++) {
            int stream = connection.begin(i % 2 == 0 ? "ModelInfer" : "ModelStreamInfer");
            connection.send(stream, 5 * MB, new byte[100]);
        }
        while (limits.inFlight()
                != AWAITED * 100L) { // bytes sent; the memory of the test before may be there for a moment
            Poll.pause();
        }
        assertThat(memory()).isEqualTo(idle);
    }

    @Test
    void callsBeyondTheAwaitedCallsAreRefused() throws IOException {
        HalfCalls connection = connect();
        for (int i = 0; i < AWAITED; i++) {
            connection.begin("ModelInfer"); // and nothing else
        }
        awaitBodies(AWAITED);
        Status refused = client.refused("ModelInfer", echo(1));
        assertThat(refused.getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(refused.getDescription()).contains("iree.http.max-concurrent-bodies");
        connection.close();
        awaitBodies(0);
        assertThat(client.call("ModelInfer", CallOptions.DEFAULT, echo(1))).isNotEmpty();
    }

    @Test
    void streamsSilentBetweenMessagesDoNotCount() throws IOException {
        HalfCalls connection = connect();
        for (int i = 0; i < 10 * AWAITED; i++) {
            connection.begin("ModelStreamInfer");
        }
        assertThat(client.call("ModelInfer", CallOptions.DEFAULT, echo(1))).isNotEmpty();
        assertThat(limits.awaited()).isZero();
    }

    @Test
    void streamsBeyondTheMaximumAreRefused() throws Exception {
        List<HalfCalls> first = List.of(connect(), connect());
        for (int i = 0; i < 60; i++) {
            first.get(i % 2).begin("ModelStreamInfer");
        }
        while (limits.counts().underWay(Work.STREAMS) < 60) {
            assertThat(Thread.currentThread().isInterrupted())
                    .as("by the timeout")
                    .isFalse();
            Poll.pause();
        }
        HalfCalls connection = connect();
        for (int i = 0; i < 41; i++) {
            connection.begin("ModelStreamInfer");
        }
        connection.awaitAnyEnd(); // calls begin in any order
        UnreadAnswers late = new UnreadAnswers(client, "ModelStreamInfer");
        Status refused = late.closed.get();
        assertThat(refused.getCode()).as(refused.toString()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(refused.getDescription()).contains("iree.serving.grpc.max-calls");
        assertThat(client.call("ModelInfer", CallOptions.DEFAULT, echo(1))).isNotEmpty();
        connection.close();
        Status again;
        do { // until the server has noticed
            UnreadAnswers next = new UnreadAnswers(client, "ModelStreamInfer");
            next.call.halfClose();
            again = next.closed.get();
        } while (!again.isOk());
    }

    /** No client waits for the settings of the server, nor reads anything. */
    @Test
    void connectionsBeginningTooManyCallsAreClosed() throws Exception {
        for (String method : List.of("ModelInfer", "ModelStreamInfer", "NoSuchMethod")) {
            List<HalfCalls> flood = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                flood.add(connect());
            }
            int closed = 0;
            for (HalfCalls each : flood) {
                closed += each.flood(method, 5_000) ? 1 : 0;
                assertThat(service.openCalls()).isLessThanOrEqualTo(400);
            }
            assertThat(closed).as(method).isPositive();
            for (HalfCalls each : flood) {
                each.close();
            }
            while (service.openCalls() != 0) {
                Poll.pause();
            }
            assertThat(client.call("ModelInfer", CallOptions.DEFAULT, echo(1))).isNotEmpty();
        }
    }

    @Test
    void clientsAreToldHowManyCallsAConnectionMayHave() throws IOException {
        assertThat(connect().maximumOfCalls()).isEqualTo(50);
    }

    @Test
    void connectionsResettingTooManyCallsAreClosed() throws IOException {
        assertThat(connect().resets("ModelInfer", 5_000)).isTrue();
        assertThat(client.call("ModelInfer", CallOptions.DEFAULT, echo(1))).isNotEmpty();
    }

    @Test
    void repositoryIsNotServedUnlessConfigured() {
        for (String method : List.of("RepositoryIndex", "RepositoryModelLoad", "RepositoryModelUnload")) {
            Status refused = client.refused(method, new byte[0]);
            assertThat(refused.getCode()).isEqualTo(Status.Code.UNIMPLEMENTED);
            assertThat(refused.getDescription()).contains("iree.serving.repository=true");
        }
    }

    @Test
    void messageLargerThanTheMaximumIsRefused() {
        assertThat(client.refused("ModelInfer", echo(8 * MB)).getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(client.refused("ServerLive", new byte[8 * MB]).getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
    }

    @Test
    void requestLargerThanTheMemoryOfAllIsRefused() {
        Status refused = client.refused("ModelInfer", echo(6 * MB + MB / 2));
        assertThat(refused.getCode()).as(refused.toString()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(refused.getDescription()).contains("iree.http.max-in-flight-size");
    }

    @Test
    void compressedMessagesAreChargedForTheirExpansion() {
        CallOptions compressed = CallOptions.DEFAULT.withCompression("gzip");
        assertThat(client.call("ModelInfer", compressed, echo(MB))).hasSizeGreaterThan(MB);
        Status tooLarge = client.refused("ModelInfer", compressed, echo(8 * MB));
        assertThat(tooLarge.getCode()).as(tooLarge.toString()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        // A typed element takes two bytes, and eight of memory.
        GrpcClient.Inference typed = client.inference("values.echo_i64")
                .typed("x", "INT64", List.of((long) MB), "int64_contents", Collections.nCopies(MB, 1L));
        Status refused = typed.options(compressed).refused();
        assertThat(refused.getCode()).as(refused.toString()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(refused.getDescription()).contains("iree.http.max-in-flight-size");
    }

    /** A damaged message with the compressed flag. */
    private record Damage(UnaryOperator<byte[]> damage) implements Compressor {
        @Override
        public String getMessageEncoding() {
            return "gzip";
        }

        @Override
        public OutputStream compress(OutputStream target) {
            return new ByteArrayOutputStream() {
                @Override
                public void close() throws IOException {
                    ByteArrayOutputStream compressed = new ByteArrayOutputStream();
                    try (GZIPOutputStream gzip = new GZIPOutputStream(compressed)) {
                        writeTo(gzip);
                    }
                    try (target) {
                        target.write(damage.apply(compressed.toByteArray()));
                    }
                }
            };
        }
    }

    private Status refused(UnaryOperator<byte[]> damage) throws InterruptedException {
        CompressorRegistry encodings = CompressorRegistry.newEmptyInstance();
        encodings.register(new Damage(damage));
        ManagedChannel channel = NettyChannelBuilder.forAddress(
                        "localhost", server.getPort(), InsecureChannelCredentials.create())
                .compressorRegistry(encodings)
                .build();
        try {
            return Assertions.assertThrows(
                            StatusRuntimeException.class,
                            () -> ClientCalls.blockingUnaryCall(
                                    channel,
                                    GrpcClient.method("ModelInfer"),
                                    CallOptions.DEFAULT.withCompression("gzip"),
                                    echo(100_000)))
                    .getStatus();
        } finally {
            channel.shutdownNow();
            assertThat(channel.awaitTermination(1, TimeUnit.MINUTES)).isTrue();
        }
    }

    @Test
    void undecompressibleMessagesAreTheClientsFault() throws Exception {
        for (UnaryOperator<byte[]> damage : List.<UnaryOperator<byte[]>>of(
                _ -> "zzzz".getBytes(StandardCharsets.US_ASCII),
                whole -> Arrays.copyOf(whole, 5),
                whole -> Arrays.copyOf(whole, 30),
                whole -> Arrays.copyOf(whole, whole.length - 4))) {
            Status refused = refused(damage);
            assertThat(refused.getCode()).as(refused.toString()).isEqualTo(Status.Code.INVALID_ARGUMENT);
            assertThat(refused.getDescription()).contains("cannot be decompressed by 'gzip'");
        }
    }

    @Test
    void unreadingClientGetsNoFurtherAnswers() {
        UnreadAnswers unread = new UnreadAnswers(client, "ModelStreamInfer");
        for (int i = 0; i < 50; i++) {
            unread.send(echo(MB));
        }
        while (limits.inFlight() == 0) {
            Poll.pause();
        }
        // At most a message at work, and a message arriving.
        assertThat(limits.inFlight()).isLessThan(3 * MB + MB / 2);
        assertThat(client.call("ModelInfer", CallOptions.DEFAULT, echo(1))).isNotEmpty();
        unread.call.cancel("enough", null);
    }

    @Test
    void unreadAnswersCountAsMemoryOfTheirRequests() throws Exception {
        for (int i = 0; i < 4; i++) {
            UnreadAnswers unread = new UnreadAnswers(client, "ModelInfer");
            unread.send(echo(MB));
            unread.call.halfClose();
            while (limits.inFlight() != (i + 1) * MB) { // the requests are not needed any more
                Poll.pause();
            }
        }
        Status refused = client.refused("ModelInfer", echo(MB));
        assertThat(refused.getCode()).as(refused.toString()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(refused.getDescription()).contains("iree.http.max-in-flight-size");
        assertThat(client.call("ModelInfer", CallOptions.DEFAULT, echo(1))).isNotEmpty();
    }

    /** A call with unrequested answers. */
    static final class UnreadAnswers extends ClientCall.Listener<byte[]> {
        final CompletableFuture<Status> closed = new CompletableFuture<>();
        final ClientCall<byte[], byte[]> call;

        UnreadAnswers(GrpcClient client, String method) {
            call = client.channel().newCall(GrpcClient.method(method), CallOptions.DEFAULT);
            call.start(this, new Metadata());
        }

        void send(byte[] message) {
            call.sendMessage(message);
        }

        @Override
        public void onClose(Status status, Metadata trailers) {
            closed.complete(status);
        }
    }

    /** With little patience. */
    @Nested
    @TestPropertySource(
            properties = {
                "iree.http.body-timeout=300ms",
                "iree.http.max-in-flight-size=64MB",
                "iree.http.max-request-size=32MB"
            })
    class Slow {

        @Test
        void compressedMessagesLargerThanTheMaximumAreRefusedWithTheProperty() {
            Status refused = client.refused("ModelInfer", CallOptions.DEFAULT.withCompression("gzip"), echo(33 * MB));
            assertThat(refused.getCode()).as(refused.toString()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
            assertThat(refused.getDescription()).contains("iree.http.max-request-size");
        }

        @Test
        void callsWithoutAMessageEnd() throws IOException {
            HalfCalls connection = connect();
            connection.awaitEnd(connection.begin("ModelInfer"));
        }

        @Test
        void stalledMessagesEndTheirCall() throws IOException {
            HalfCalls connection = connect();
            for (String method : List.of("ModelInfer", "ModelStreamInfer", "ServerLive")) {
                int stream = connection.begin(method);
                connection.send(stream, MB, new byte[10]);
                connection.awaitEnd(stream);
            }
        }

        /** Their answers may take three minutes to be read, but not while others are refused for lack of memory. */
        @Test
        void unreadingClientsGiveWayToOthers() throws Exception {
            List<UnreadAnswers> unread = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                UnreadAnswers each = new UnreadAnswers(client, "ModelInfer");
                each.send(echo(11 * MB));
                each.call.halfClose();
                unread.add(each);
            }
            while (limits.inFlight() != 22 * MB || limits.awaited() > 0) {
                Poll.pause();
            }
            long begun = System.nanoTime();
            GrpcClient polite = new GrpcClient(server.getPort());
            while (!isAnswered(polite)) {
                assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(60));
            }
            polite.close();
            unread.forEach(each -> each.call.request(1));
            assertThat(CompletableFuture.anyOf(unread.get(0).closed, unread.get(1).closed)
                            .get())
                    .isInstanceOfSatisfying(
                            Status.class, status -> assertThat(status.isOk()).isFalse());
        }

        private boolean isAnswered(GrpcClient polite) {
            try {
                return polite.call("ModelInfer", CallOptions.DEFAULT, echo(11 * MB)).length > 11 * MB;
            } catch (StatusRuntimeException e) {
                assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
                return false;
            }
        }

        @Test
        void unreadingClientsAreDisconnected() throws Exception {
            UnreadAnswers unread = new UnreadAnswers(client, "ModelInfer");
            unread.send(echo(MB / 4)); // more than fits into windows
            unread.call.halfClose();
            while (limits.inFlight() == 0) {
                Poll.pause();
            }
            while (limits.inFlight() != 0) { // the answer is given up
                Poll.pause();
            }
            unread.call.request(1);
            assertThat(unread.closed.get().isOk()).isFalse();
        }
    }
}
