package io.github.iree4j.cluster.transport;

import static io.github.iree4j.cluster.transport.GrpcTransportTests.HOST;
import static io.github.iree4j.cluster.transport.GrpcTransportTests.identity;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.cluster.membership.ClusterMember;
import io.github.iree4j.status.IreeException;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Streams on a channel of the test. */
class DialedStreamsTests {

    private final List<Call<?, ?>> calls = new ArrayList<>();
    private final List<IreeException> failures = new ArrayList<>();

    /** A call of gRPC, not cancellable during its start. */
    private final class Call<T, R> extends ClientCall<T, R> {
        private final int number = calls.size();
        private boolean starting;
        boolean started;
        boolean cancelled;
        Listener<R> listener;

        @Override
        public void start(Listener<R> told, Metadata headers) {
            listener = told;
            starting = true;
            if (number == 1) { // just now, on another thread
                calls.getFirst().listener.onClose(Status.UNAVAILABLE, new Metadata());
            }
            starting = false;
            started = true;
        }

        @Override
        public void cancel(String message, Throwable cause) {
            if (starting) {
                throw new IllegalStateException("May only be called after start");
            }
            cancelled = true;
        }

        @Override
        public void request(int messages) {}

        @Override
        public void halfClose() {}

        @Override
        public void sendMessage(T message) {}
    }

    private final class Channel extends ManagedChannel {
        @Override
        public <T, R> ClientCall<T, R> newCall(MethodDescriptor<T, R> method, CallOptions options) {
            Call<T, R> call = new Call<>();
            calls.add(call);
            return call;
        }

        @Override
        public String authority() {
            return "test";
        }

        @Override
        public ManagedChannel shutdown() {
            return this;
        }

        @Override
        public boolean isShutdown() {
            return false;
        }

        @Override
        public boolean isTerminated() {
            return false;
        }

        @Override
        public ManagedChannel shutdownNow() {
            return this;
        }

        @Override
        public boolean awaitTermination(long timeout, TimeUnit unit) {
            return true;
        }
    }

    /** Otherwise the attempt never ends, and the peer is never dialed again. */
    @Test
    void aStreamFailingWhileTheNextStartsFailsTheAttemptAndCancelsTheNext() {
        Channel channel = new Channel();
        DialedStreams.Outcome outcome = new DialedStreams.Outcome() {
            @Override
            public void established(GrpcConnection connection, Metadata answer) {
                throw new AssertionError(connection);
            }

            @Override
            public void failed(IreeException cause) {
                failures.add(cause);
            }
        };
        ClusterMember self = new ClusterMember(identity(1), HOST, 1);
        try (ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor()) {
            DialedStreams streams =
                    new DialedStreams(outcome, new ClusterMember(identity(2), HOST, 2), timer, () -> {});
            streams.open(self, new byte[16], null, _ -> channel, _ -> 1000);
        }
        assertThat(failures).hasSize(1);
        assertThat(calls.get(1).started).isTrue();
        assertThat(calls.get(1).cancelled).isTrue();
        assertThat(calls.get(2).started).isFalse();
    }
}
