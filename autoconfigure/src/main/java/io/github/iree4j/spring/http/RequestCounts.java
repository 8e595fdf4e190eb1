package io.github.iree4j.spring.http;

import io.github.iree4j.api.NotForApplications;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntSupplier;

/** Numbers of requests in progress and of refused requests in an application, over HTTP and gRPC alike. Safe from any thread. */
@NotForApplications
public final class RequestCounts {

    private final Map<Reason, LongAdder> refused = new EnumMap<>(Reason.class);
    private final Map<Work, IntSupplier> work = new ConcurrentHashMap<>();

    RequestCounts() {
        for (Reason each : Reason.values()) {
            refused.put(each, new LongAdder());
        }
    }

    /** The reason for refusing or ending a request. */
    public enum Reason {
        /** Requests and unread answers hold the memory of requests. */
        MEMORY,
        /** Too many bodies are awaited. */
        BODIES,
        /** The body, or the memory needed for the body, exceeds a maximum. */
        SIZE,
        /** The body has not arrived in time. */
        SLOW,
        /** The client has not read the answer in time. */
        UNREAD,
        /** Too many requests are being computed and waiting. */
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

    /** A kind of work in progress. */
    public enum Work {
        /** Requests of the protocol over HTTP being computed, or keeping their place for an unread answer. */
        HTTP,
        /** Requests of the protocol over HTTP waiting to be computed. */
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
     * Counts a refused request.
     *
     * @param reason the reason
     */
    public void refuse(Reason reason) {
        count(reason).increment();
    }

    /**
     * Returns the number of refused requests.
     *
     * @param reason the reason
     * @return the number since the start
     */
    public long refused(Reason reason) {
        return count(reason).sum();
    }

    private LongAdder count(Reason reason) {
        return Objects.requireNonNull(refused.get(reason));
    }

    /**
     * Registers the source of a work count.
     *
     * @param kind of work
     * @param number returns the count at some moment
     */
    public void measure(Work kind, IntSupplier number) {
        work.put(kind, number);
    }

    /**
     * Returns the amount of work in progress.
     *
     * @param kind of work
     * @return the count at some moment; zero without a source
     */
    public int underWay(Work kind) {
        return work.getOrDefault(kind, () -> 0).getAsInt();
    }
}
