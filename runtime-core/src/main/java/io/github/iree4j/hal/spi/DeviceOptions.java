package io.github.iree4j.hal.spi;

import io.github.iree4j.async.SemaphoreOptions;
import io.github.iree4j.hal.SchedulingDomain;
import io.github.iree4j.status.DurationText;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Options for opening a device: options of all devices, and {@link DriverOptions}. Immutable; made with
 * {@link #builder}, or from other options with {@link #toBuilder}.
 */
public final class DeviceOptions {

    /** A guess, not measured. */
    private static final Duration DEFAULT_MEMORY_IDLE = Duration.ofMinutes(1);

    /** A guess, not measured. */
    private static final long DEFAULT_MEMORY_RETAINED = 256L << 20;

    /** Longer than clients wait. A guess, not measured. */
    private static final Duration DEFAULT_MEMORY_WAIT = Duration.ofSeconds(30);

    /** Threads about to close results do so sooner. A guess, not measured. */
    private static final Duration DEFAULT_MEMORY_HOST_WAIT = Duration.ofSeconds(1);

    /** 292 years. */
    private static final Duration LONGEST = Duration.ofNanos(Long.MAX_VALUE);

    /** The queues and all memory of the device. */
    public static final DeviceOptions DEFAULTS = builder().build();

    private final int queueCount;
    private final long memoryLimit;
    private final Map<String, Long> memoryQuotas;
    private final SchedulingDomain schedulingDomain;
    private final Duration memoryIdle;
    private final long memoryRetained;
    private final Duration memoryWait;
    private final Duration memoryHostWait;
    private final int semaphoreHistory;
    private final Set<String> executableFormats;
    private final String name;

    /** By type. */
    private final Map<Class<?>, DriverOptions> drivers;

    private DeviceOptions(Builder builder) {
        queueCount = builder.queueCount;
        memoryLimit = builder.memoryLimit;
        memoryQuotas = Map.copyOf(builder.memoryQuotas);
        schedulingDomain = Objects.requireNonNull(builder.schedulingDomain, "schedulingDomain");
        memoryIdle = builder.memoryIdle;
        memoryRetained = builder.memoryRetained;
        memoryWait = builder.memoryWait;
        memoryHostWait = builder.memoryHostWait;
        semaphoreHistory = builder.semaphoreHistory;
        executableFormats = builder.executableFormats;
        name = Objects.requireNonNull(builder.name, "name");
        drivers = Map.copyOf(builder.drivers);
        check("queueCount", queueCount, 0, 64);
        check("memoryLimit", memoryLimit, 0, Long.MAX_VALUE);
        check("memoryIdle", memoryIdle);
        check("memoryRetained", memoryRetained, 0, Long.MAX_VALUE);
        check("memoryWait", memoryWait);
        check("memoryHostWait", memoryHostWait);
        check("semaphoreHistory", semaphoreHistory, 1, SemaphoreOptions.MAXIMUM_HISTORY);
        memoryQuotas.forEach((consumer, bytes) -> check("memoryQuota of " + consumer, bytes, 0, Long.MAX_VALUE));
    }

    /**
     * Returns the number of queues.
     *
     * @return up to 64; 0 for the device's default: one queue on the CPU, elsewhere a queue for each hardware queue
     */
    public int queueCount() {
        return queueCount;
    }

    /**
     * Returns the maximum bytes of all buffers at once.
     *
     * @return 0 for all memory of the device (for the CPU: a share of the memory left by the machine and the container
     *     when the device is opened, beside the Java heap, see {@link CpuOptions#sharers})
     */
    public long memoryLimit() {
        return memoryLimit;
    }

    /**
     * Returns the maximum bytes of consumers at once within the limit.
     *
     * @return bytes by name of the consumer; a program has the name of its last module
     */
    public Map<String, Long> memoryQuotas() {
        return memoryQuotas;
    }

    /**
     * Returns the domain joined by the device's queues.
     *
     * @return the domain of the process unless set
     */
    public SchedulingDomain schedulingDomain() {
        return schedulingDomain;
    }

    /**
     * Returns how long unused memory is kept.
     *
     * @return zero for not at all
     */
    public Duration memoryIdle() {
        return memoryIdle;
    }

    /**
     * Returns the maximum bytes of large blocks kept for {@link #memoryIdle}.
     *
     * @return bytes, at least 0
     */
    public long memoryRetained() {
        return memoryRetained;
    }

    /**
     * Returns the longest wait of work for memory before failing.
     *
     * @return at least zero
     */
    public Duration memoryWait() {
        return memoryWait;
    }

    /**
     * Returns the longest wait of work for memory that only the host can free: results and tensors not yet closed.
     *
     * @return at least zero
     */
    public Duration memoryHostWait() {
        return memoryHostWait;
    }

    /**
     * Returns the number of last signals of a semaphore with a separate frontier.
     *
     * @return 1 to {@value SemaphoreOptions#MAXIMUM_HISTORY}
     */
    public int semaphoreHistory() {
        return semaphoreHistory;
    }

    /**
     * Returns the formats of loadable executables. Programs see a device without other formats.
     *
     * @return for example {@code vmvx-bytecode-fb}; empty for all formats of the device except {@code system-elf-*},
     *     shared libraries loaded by the operating system, to be named explicitly
     */
    public Set<String> executableFormats() {
        return executableFormats;
    }

    /**
     * Returns the name of the device in messages.
     *
     * @return empty for the id
     */
    public String name() {
        return name;
    }

    static void check(String name, long value, long minimum, long maximum) {
        if (value < minimum || value > maximum) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "'%s' is %d and must be within [%d, %d]".formatted(name, value, minimum, maximum));
        }
    }

    /** Checks that the duration fits in a long of nanoseconds. */
    private static void check(String name, Duration value) {
        check(name, value, LONGEST);
    }

    static void check(String name, Duration value, Duration maximum) {
        if (value.isNegative() || value.compareTo(maximum) > 0) {
            throw IreeException.of(
                    StatusCode.INVALID_ARGUMENT,
                    "'%s' is %s and must be within [%s, %s]"
                            .formatted(
                                    name,
                                    DurationText.of(value),
                                    DurationText.of(Duration.ZERO),
                                    DurationText.of(maximum)));
        }
    }

    /**
     * Returns the options for drivers of one kind.
     *
     * @param defaults the result unless options of the same type were given
     * @param <T> the type
     * @return the options given, otherwise the defaults
     */
    @SuppressWarnings("unchecked") // of the same class
    public <T extends DriverOptions> T driver(T defaults) {
        return (T) drivers.getOrDefault(defaults.getClass(), defaults);
    }

    /**
     * Returns a builder initialized with these options.
     *
     * @return a builder with these values
     */
    public Builder toBuilder() {
        Builder builder = new Builder();
        builder.queueCount = queueCount;
        builder.memoryLimit = memoryLimit;
        builder.memoryQuotas.putAll(memoryQuotas);
        builder.schedulingDomain = schedulingDomain;
        builder.memoryIdle = memoryIdle;
        builder.memoryRetained = memoryRetained;
        builder.memoryWait = memoryWait;
        builder.memoryHostWait = memoryHostWait;
        builder.semaphoreHistory = semaphoreHistory;
        builder.executableFormats = executableFormats;
        builder.name = name;
        builder.drivers.putAll(drivers);
        return builder;
    }

    /**
     * Returns a builder of options.
     *
     * @return a builder with the defaults
     */
    public static Builder builder() {
        return new Builder();
    }

    /** Builder of options. Confined to a single thread. */
    public static final class Builder {
        private int queueCount;
        private long memoryLimit;
        private final Map<String, Long> memoryQuotas = new HashMap<>();
        private final Map<Class<?>, DriverOptions> drivers = new HashMap<>();
        private SchedulingDomain schedulingDomain = SchedulingDomain.ofProcess();
        private Duration memoryIdle = DEFAULT_MEMORY_IDLE;
        private long memoryRetained = DEFAULT_MEMORY_RETAINED;
        private Duration memoryWait = DEFAULT_MEMORY_WAIT;
        private Duration memoryHostWait = DEFAULT_MEMORY_HOST_WAIT;
        private int semaphoreHistory = SemaphoreOptions.DEFAULT_HISTORY;
        private Set<String> executableFormats = Set.of();
        private String name = "";

        private Builder() {}

        /**
         * Sets the number of queues.
         *
         * @param count 1 to 64; 0 for the device's own number, the default
         * @return this builder
         */
        public Builder queueCount(int count) {
            this.queueCount = count;
            return this;
        }

        /**
         * Sets the maximum bytes of all buffers at once.
         *
         * @param bytes the limit; 0 for all memory of the device
         * @return this builder
         */
        public Builder memoryLimit(long bytes) {
            this.memoryLimit = bytes;
            return this;
        }

        /**
         * Sets the maximum bytes of a consumer at once. Requests beyond the quota wait until the consumer frees memory.
         *
         * @param consumer name of the consumer; a program has the name of its last module
         * @param bytes the quota
         * @return this builder
         */
        public Builder memoryQuota(String consumer, long bytes) {
            memoryQuotas.put(consumer, bytes);
            return this;
        }

        /**
         * Sets the domain joined by the device's queues.
         *
         * @param domain the domain; the domain of the process unless set
         * @return this builder
         */
        public Builder schedulingDomain(SchedulingDomain domain) {
            this.schedulingDomain = domain;
            return this;
        }

        /**
         * Sets how long unused memory is kept for the next request.
         *
         * @param time one minute unless set; zero for not at all
         * @return this builder
         */
        public Builder memoryIdle(Duration time) {
            this.memoryIdle = time;
            return this;
        }

        /**
         * Sets the maximum bytes of large blocks, with their own slabs, kept for the next request.
         *
         * @param bytes 256 MiB unless set
         * @return this builder
         */
        public Builder memoryRetained(long bytes) {
            this.memoryRetained = bytes;
            return this;
        }

        /**
         * Sets the longest wait of work for memory before failing with RESOURCE_EXHAUSTED. A hopeless wait fails at
         * once: when all holders of the missing memory are calls waiting for memory.
         *
         * @param time 30 seconds unless set
         * @return this builder
         */
        public Builder memoryWait(Duration time) {
            this.memoryWait = time;
            return this;
        }

        /**
         * Sets the longest wait of work for memory that only the host can free: results and tensors not yet closed.
         *
         * @param time one second unless set
         * @return this builder
         */
        public Builder memoryHostWait(Duration time) {
            this.memoryHostWait = time;
            return this;
        }

        /**
         * Sets the number of last signals of a semaphore with a separate frontier. A wait for an older signal gets the
         * oldest frontier kept.
         *
         * @param signals 1 to {@value SemaphoreOptions#MAXIMUM_HISTORY}; {@value SemaphoreOptions#DEFAULT_HISTORY}
         *     unless set
         * @return this builder
         */
        public Builder semaphoreHistory(int signals) {
            this.semaphoreHistory = signals;
            return this;
        }

        /**
         * Limits the code that may be loaded. Native code can do anything permitted to the process;
         * {@code vmvx-bytecode-fb} can only compute.
         *
         * @param formats such as {@code vmvx-bytecode-fb}; empty, the default, for all formats of the device except
         *     {@code system-elf-*}
         * @return this builder
         */
        public Builder executableFormats(Collection<String> formats) {
            this.executableFormats = Set.copyOf(formats);
            return this;
        }

        /**
         * Sets the name of the device in messages, where several devices have one id. A runtime sets the name given in
         * its options.
         *
         * @param known the name; empty for the device's id, the default
         * @return this builder
         */
        public Builder name(String known) {
            this.name = known;
            return this;
        }

        /**
         * Sets options for drivers of one kind, in place of earlier options of the same type.
         *
         * @param options the options
         * @return this builder
         */
        public Builder with(DriverOptions options) {
            drivers.put(options.getClass(), options);
            return this;
        }

        /**
         * Returns the options for drivers of one kind, as set so far.
         *
         * @param defaults the result unless options of the same type were set
         * @param <T> the type
         * @return the options set, otherwise the defaults
         */
        @SuppressWarnings("unchecked") // of the same class
        public <T extends DriverOptions> T driver(T defaults) {
            return (T) drivers.getOrDefault(defaults.getClass(), defaults);
        }

        /**
         * Builds the options.
         *
         * @return the options
         * @throws IreeException INVALID_ARGUMENT naming the option out of range
         */
        public DeviceOptions build() {
            return new DeviceOptions(this);
        }
    }
}
