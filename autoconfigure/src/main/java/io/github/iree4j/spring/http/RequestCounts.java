package io.github.iree4j.spring.http;

import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntSupplier;

/** How many requests an application works on and how many it has refused, over HTTP and gRPC alike. Safe from any thread. */
public final class RequestCounts {

    private final Map<Reason, LongAdder> refused = new EnumMap<>(Reason.class);
    private final Map<Work, IntSupplier> work = new ConcurrentHashMap<>();

    RequestCounts() {
        for (Reason each : Reason.values()) {
            refused.put(each, new LongAdder());
        }
    }

    /** Why a request was refused, or ended. */
    public enum Reason {
        /** Requests and answers that are not read hold the memory of requests. */
        MEMORY,
        /** Too many bodies are awaited. */
        BODIES,
        /** The body, or what it takes, is larger than it may be. */
        SIZE,
        /** The body has not come in time. */
        SLOW,
        /** The client has not read the answer in time. */
        UNREAD,
        /** Too many requests are computed and wait. */
        REQUESTS,
        /** Too many calls of gRPC are open. */
        CALLS,
        /** Too many streams of gRPC are open. */
        STREAMS;

        /**
         * Returns the value of a tag.
         *
         * @return such as {@code memory}
         */
        public String tag() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** What is under way. */
    public enum Work {
        /** Requests of the protocol over HTTP that are computed, or whose answers are not read. */
        HTTP,
        /** Requests of the protocol over HTTP that wait to be computed. */
        HTTP_WAITING,
        /** As {@link #HTTP}, over gRPC. */
        GRPC,
        /** As {@link #HTTP_WAITING}, over gRPC. */
        GRPC_WAITING,
        /** Open calls of gRPC, of any service. */
        CALLS,
        /** Open streams of the protocol over gRPC. */
        STREAMS
    }

    /**
     * Counts a request that is refused.
     *
     * @param reason why
     */
    public void refuse(Reason reason) {
        count(reason).increment();
    }

    /**
     * Returns how many requests were refused.
     *
     * @param reason why
     * @return their number since the start
     */
    public long refused(Reason reason) {
        return count(reason).sum();
    }

    private LongAdder count(Reason reason) {
        return Objects.requireNonNull(refused.get(reason));
    }

    /**
     * Says who knows how much is under way.
     *
     * @param kind of work
     * @param number returns how much at some moment
     */
    public void measure(Work kind, IntSupplier number) {
        work.put(kind, number);
    }

    /**
     * Returns how much is under way.
     *
     * @param kind of work
     * @return how much at some moment; zero where nothing serves it
     */
    public int underWay(Work kind) {
        return work.getOrDefault(kind, () -> 0).getAsInt();
    }
}
