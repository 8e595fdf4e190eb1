package io.github.iree4j.cluster.transport;

import io.github.iree4j.cluster.membership.ClusterMember;
import io.github.iree4j.cluster.membership.ClusterMembership;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Grpc;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.Status;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Messages of the membership: a call of gRPC each, on a connection for each address besides the connections for data.
 * Thread-safe.
 */
final class MembershipMessages {
    private static final int MOST_BYTES = 512 << 10; // of a message; more than any membership sends
    private static final long UNUSED_NANOS = 60_000_000_000L;
    private static final int RESOLUTIONS = 4;
    private static final String LEAVES = "this node leaves";

    /** Resolves names, which gRPC would do with a stack trace in the log for each unknown host. */
    private final ThreadPoolExecutor resolutions = new ThreadPoolExecutor(
            RESOLUTIONS,
            RESOLUTIONS,
            1,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            Thread.ofPlatform().daemon().name("iree-cluster-resolution").factory());

    private final boolean tls;
    private final Function<InetSocketAddress, ManagedChannel> dial;
    private final LongSupplier nanoTime;
    private final Map<InetSocketAddress, Dialed> channels = new HashMap<>(); // guarded by this, like the rest
    private @Nullable ClusterMember self;
    private boolean closed;

    /** The connection with an address. */
    private static final class Dialed {
        final ManagedChannel channel;
        volatile long used;

        Dialed(ManagedChannel channel, long now) {
            this.channel = channel;
            this.used = now;
        }
    }

    /**
     * Creates an instance without connections.
     *
     * @param tls whether nodes show certificates
     * @param dial opens a connection with a resolved address
     * @param nanoTime the clock
     */
    MembershipMessages(boolean tls, Function<InetSocketAddress, ManagedChannel> dial, LongSupplier nanoTime) {
        this.tls = tls;
        this.dial = dial;
        this.nanoTime = nanoTime;
        resolutions.allowCoreThreadTimeOut(true);
    }

    /** Sets this node, before the first message. */
    synchronized void sender(ClusterMember member) {
        self = member;
    }

    /** Sends a message, as {@link GrpcTransport#ask} does. */
    void ask(InetSocketAddress address, byte[] message, Duration limit, ClusterMembership.Reply reply) {
        Once once = new Once(reply);
        long began = nanoTime.getAsLong();
        try {
            Dialed open;
            synchronized (this) {
                Dialed found = channels.get(address);
                open = found == null || began - found.used > UNUSED_NANOS ? null : found;
            }
            if (open != null) {
                send(open, address, message, limit, began, once);
            } else {
                resolutions.execute(() -> dialAndSend(address, message, limit, began, once));
            }
        } catch (RejectedExecutionException e) {
            once.failed(IreeException.of(StatusCode.UNAVAILABLE, LEAVES, e));
        } catch (RuntimeException | Error e) { // no thread, for instance; the caller waits for the reply
            once.failed(IreeException.of(StatusCode.UNAVAILABLE, "no message can be sent: " + e, e));
        }
    }

    private void dialAndSend(InetSocketAddress address, byte[] message, Duration limit, long began, Once once) {
        try {
            Dialed opened = dial(address);
            send(opened, address, message, limit, began, once);
        } catch (IreeException e) {
            once.failed(e);
        } catch (RuntimeException | Error e) {
            once.failed(IreeException.of(StatusCode.UNAVAILABLE, "no message can be sent: " + e, e));
        }
    }

    /** Passes on the first reply. */
    private static final class Once implements ClusterMembership.Reply {
        private final ClusterMembership.Reply reply;
        private final AtomicBoolean over = new AtomicBoolean();

        Once(ClusterMembership.Reply reply) {
            this.reply = reply;
        }

        @Override
        public void answered(ClusterMember from, byte[] answer) {
            if (over.compareAndSet(false, true)) {
                reply.answered(from, answer);
            }
        }

        @Override
        public void failed(IreeException cause) {
            if (over.compareAndSet(false, true)) {
                reply.failed(cause);
            }
        }
    }

    private void send(Dialed to, InetSocketAddress address, byte[] message, Duration limit, long began, Once once) {
        long left = Math.max(1, limit.toNanos() - (nanoTime.getAsLong() - began)); // a deadline passed fails the call
        Metadata headers = new Metadata();
        headers.put(Frames.NODE, here().encode());
        ClientCall<InputStream, InputStream> call = to.channel.newCall(
                Frames.MEMBERSHIP, CallOptions.DEFAULT.withDeadlineAfter(left, TimeUnit.NANOSECONDS));
        call.start(new Asked(call, address, to, limit, once), headers);
        call.request(2); // an answer, and any excess
        call.sendMessage(Frames.outgoing(ByteBuffer.wrap(message), ByteBuffer.allocate(0)));
        call.halfClose();
    }

    /** Opens a connection. Blocks while the name is resolved. */
    private Dialed dial(InetSocketAddress address) {
        InetSocketAddress resolved;
        try {
            byte[] numeric = InetAddress.getByName(address.getHostString()).getAddress();
            resolved = new InetSocketAddress(InetAddress.getByAddress(numeric), address.getPort());
        } catch (UnknownHostException e) {
            throw IreeException.of(StatusCode.UNAVAILABLE, "unknown host", e);
        }
        List<Dialed> unused = new ArrayList<>();
        Dialed opened;
        synchronized (this) {
            if (closed) {
                throw IreeException.of(StatusCode.UNAVAILABLE, LEAVES);
            }
            long now = nanoTime.getAsLong();
            channels.values().removeIf(each -> now - each.used > UNUSED_NANOS && unused.add(each));
            opened = channels.computeIfAbsent(address, _ -> new Dialed(dial.apply(resolved), now));
        }
        unused.forEach(each -> each.channel.shutdown());
        return opened;
    }

    /** Drops a connection, since a connection of gRPC pauses for long after failures. */
    private void drop(InetSocketAddress address, Dialed dialed) {
        synchronized (this) {
            channels.remove(address, dialed);
        }
        dialed.channel.shutdown();
    }

    void close() {
        resolutions.shutdown(); // the waiting messages fail
        List<Dialed> open;
        synchronized (this) {
            closed = true;
            open = List.copyOf(channels.values());
            channels.clear();
        }
        open.forEach(each -> each.channel.shutdownNow()); // ends calls on this thread
    }

    private static byte[] read(InputStream message) {
        try (message) {
            byte[] bytes = message.readNBytes(MOST_BYTES + 1);
            if (bytes.length <= MOST_BYTES) {
                return bytes;
            }
        } catch (IOException e) {
            throw IreeException.of(StatusCode.DATA_LOSS, "a message of the membership cannot be read", e);
        }
        throw IreeException.of(
                StatusCode.RESOURCE_EXHAUSTED,
                "a message of the membership has more than %d bytes".formatted(MOST_BYTES));
    }

    /** A message waiting for the answer. */
    private final class Asked extends ClientCall.Listener<InputStream> {
        private final ClientCall<InputStream, InputStream> call;
        private final InetSocketAddress address;
        private final Dialed dialed;
        private final Duration limit;
        private final ClusterMembership.Reply reply;
        private @Nullable ClusterMember from; // calls of a listener come one after the other
        private byte @Nullable [] answer;
        private @Nullable IreeException failure;

        Asked(
                ClientCall<InputStream, InputStream> call,
                InetSocketAddress address,
                Dialed dialed,
                Duration limit,
                ClusterMembership.Reply reply) {
            this.call = call;
            this.address = address;
            this.dialed = dialed;
            this.limit = limit;
            this.reply = reply;
        }

        @Override
        public void onHeaders(Metadata headers) {
            try {
                from = Frames.sender(headers, call.getAttributes(), tls);
            } catch (IreeException e) {
                refuse(e);
            }
        }

        @Override
        public void onMessage(InputStream message) {
            try {
                answer = read(message);
            } catch (IreeException e) {
                refuse(e);
            }
        }

        private void refuse(IreeException cause) {
            failure = cause;
            call.cancel(cause.getMessage(), null);
        }

        @Override
        public void onClose(Status status, Metadata trailers) {
            ClusterMember node = from;
            byte[] bytes = answer;
            if (failure == null && status.isOk() && node != null && bytes != null) {
                dialed.used = nanoTime.getAsLong();
                reply.answered(node, bytes);
                return;
            }
            drop(address, dialed);
            reply.failed(failure != null ? failure : Reasons.unanswered(status, limit));
        }
    }

    /**
     * Answers the messages of others.
     *
     * @param answer returns the answer to a message of a node
     * @param known receives the source addresses of messages of nodes
     */
    ServerCallHandler<InputStream, InputStream> answers(
            BiFunction<ClusterMember, byte[], byte[]> answer, Consumer<@Nullable SocketAddress> known) {
        return (call, headers) -> {
            ClusterMember from;
            try {
                from = Frames.sender(headers, call.getAttributes(), tls);
            } catch (IreeException e) {
                call.close(Frames.refusal(e), new Metadata());
                return new ServerCall.Listener<>() {};
            }
            call.request(2);
            return new Answering(call, from, answer, known);
        };
    }

    /** The message of another node. */
    private final class Answering extends ServerCall.Listener<InputStream> {
        private final ServerCall<InputStream, InputStream> call;
        private final ClusterMember from;
        private final BiFunction<ClusterMember, byte[], byte[]> answer;
        private final Consumer<@Nullable SocketAddress> known;
        private boolean answered; // calls of a listener come one after the other

        Answering(
                ServerCall<InputStream, InputStream> call,
                ClusterMember from,
                BiFunction<ClusterMember, byte[], byte[]> answer,
                Consumer<@Nullable SocketAddress> known) {
            this.call = call;
            this.from = from;
            this.answer = answer;
            this.known = known;
        }

        @Override
        public void onMessage(InputStream message) {
            if (answered) {
                return;
            }
            answered = true;
            known.accept(call.getAttributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR));
            try {
                byte[] bytes = answer.apply(from, read(message));
                Metadata headers = new Metadata();
                headers.put(Frames.NODE, here().encode());
                call.sendHeaders(headers);
                call.sendMessage(Frames.outgoing(ByteBuffer.wrap(bytes), ByteBuffer.allocate(0)));
                call.close(Status.OK, new Metadata());
            } catch (IreeException e) {
                call.close(Frames.refusal(e), new Metadata());
            }
        }
    }

    private synchronized ClusterMember here() {
        if (self == null) {
            throw IreeException.of(StatusCode.UNAVAILABLE, "this node does not listen yet");
        }
        return self;
    }
}
