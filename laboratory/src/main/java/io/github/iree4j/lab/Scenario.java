package io.github.iree4j.lab;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * Operations of known duration on classes of hardware, and the timelines ordering the operations. Immutable; checked as
 * a whole at creation; only a run shows the order of signals with placement {@link Placement#QUEUES}, and the number of
 * queues.
 *
 * <p>Time is in ticks. The scenario decides on the length of a tick.
 *
 * @param id the identifier, such as {@code late-waiter}
 * @param label the name for people
 * @param description the purpose; may be empty
 * @param placement how operations get to the hardware
 * @param hardware the classes of hardware, at least one
 * @param semaphores the timelines, which start at 0
 * @param operations the operations, in the order of submission, at least one
 * @param chainThrough timelines linking repetitions: see {@link Scale#depth}
 * @param iterationDependencies operations following the same operation's previous repetition
 * @param annotations remarks
 */
public record Scenario(
        String id,
        String label,
        String description,
        Placement placement,
        List<Hardware> hardware,
        List<Semaphore> semaphores,
        List<Operation> operations,
        List<String> chainThrough,
        List<IterationDependency> iterationDependencies,
        List<Annotation> annotations) {
    /** The most classes of hardware. */
    public static final int MAXIMUM_HARDWARE = 256;

    /** The most lanes of a class of hardware. */
    public static final int MAXIMUM_LANES = 64;

    /** The most timelines. */
    public static final int MAXIMUM_SEMAPHORES = 16_384;

    /** The most operations. */
    public static final int MAXIMUM_OPERATIONS = 16_384;

    /** The most waits and signals of all operations together. */
    public static final int MAXIMUM_EDGES = 131_072;

    /** The most memory of a class of hardware, in units. */
    public static final long MAXIMUM_MEMORY = 4096;

    /** The most memory allocated by all operations, in units. */
    public static final long MAXIMUM_ALLOCATED = 65_536;

    /** The most annotations. */
    public static final int MAXIMUM_ANNOTATIONS = 1024;

    /** The longest operation, in ticks. */
    public static final long MAXIMUM_DURATION = 100_000_000_000L;

    /** The largest value of a timeline, and the latest submission. */
    public static final long MAXIMUM_VALUE = 1_000_000_000_000_000L;

    private static final int MAXIMUM_NAME = 128;
    private static final int MAXIMUM_TEXT = 8192;
    private static final Pattern UNPRINTABLE = Pattern.compile("[\\p{Cc}\\p{Zl}\\p{Zp}]");

    /** How operations get to the hardware. */
    public enum Placement {
        /**
         * An operation takes the first free lane of the hardware once the waits have ended; of the operations ready at
         * the same tick, the first in the order of definition is first. Hardware orders nothing: frontiers hold the
         * awaited points, and nothing else.
         */
        LANES,
        /** Each lane is a queue running operations in the order of the decisions, like a stream of a GPU. */
        QUEUES
    }

    /**
     * A class of hardware.
     *
     * @param id the name
     * @param label the name for people
     * @param lanes how many operations run at once
     * @param scalable whether {@link Scale#lanes} changes the lanes; true for at most one class of a scenario
     * @param memory units of memory, as defined by the scenario; 0 for as many as needed
     * @param machine the machine containing the hardware; empty for the unnamed machine
     */
    public record Hardware(String id, String label, int lanes, boolean scalable, long memory, String machine) {
        /** Checks the parts. */
        public Hardware {
            checkId("a class of hardware", id);
            checkLabel("hardware", id, label);
            check("lanes of hardware '" + id + "'", lanes, 1, MAXIMUM_LANES);
            check("memory of hardware '" + id + "'", memory, 0, MAXIMUM_MEMORY);
            if (!machine.isEmpty()) {
                checkId("a machine", machine);
            }
        }

        /**
         * Makes a class of hardware of the unnamed machine, with as much memory as needed and no label but the id.
         *
         * @param id the name
         * @param lanes how many operations run at once
         * @param scalable whether {@link Scale#lanes} changes the lanes
         */
        public Hardware(String id, int lanes, boolean scalable) {
            this(id, id, lanes, scalable, 0, "");
        }

        /**
         * Returns this hardware with another number of lanes.
         *
         * @param count the lanes
         * @return the hardware
         */
        Hardware withLanes(int count) {
            return new Hardware(id, label, count, scalable, memory, machine);
        }
    }

    /**
     * A timeline, which starts at 0.
     *
     * @param id the name
     * @param label the name for people
     */
    public record Semaphore(String id, String label) {
        /** Checks the parts. */
        public Semaphore {
            checkId("a semaphore", id);
            checkLabel("semaphore", id, label);
        }
    }

    /**
     * An operation.
     *
     * @param id the name
     * @param label the name for people
     * @param hardware the class of hardware running the operation
     * @param duration in ticks
     * @param waits the awaited value of each timeline
     * @param signals the signalled value of each timeline
     * @param queue the lane whose queue takes the operation, for placement {@link Placement#QUEUES}; -1 to leave the
     *     choice to the run
     * @param submitted the tick of submission
     * @param allocates the size of each buffer obtained from the hardware before the start, in units
     * @param frees buffers that are free behind the operation
     */
    public record Operation(
            String id,
            String label,
            String hardware,
            long duration,
            Map<String, Long> waits,
            Map<String, Long> signals,
            int queue,
            long submitted,
            Map<String, Long> allocates,
            List<String> frees) {
        /** Copies and checks the parts. */
        public Operation {
            checkId("an operation", id);
            checkLabel("operation", id, label);
            check("duration of operation '" + id + "'", duration, 0, MAXIMUM_DURATION);
            waits = values(id, "waits for", waits);
            signals = values(id, "signals", signals);
            check("queue of operation '" + id + "'", queue, -1, MAXIMUM_LANES - 1);
            check("submission of operation '" + id + "'", submitted, 0, MAXIMUM_VALUE);
            allocates = Collections.unmodifiableMap(new LinkedHashMap<>(allocates));
            frees = List.copyOf(frees);
            allocates.forEach((buffer, units) -> {
                checkId("a buffer", buffer);
                check("size of buffer '" + buffer + "'", units, 1, MAXIMUM_MEMORY);
            });
        }

        /**
         * Makes an operation without allocations and releases, and no label but the id.
         *
         * @param id the name
         * @param hardware the class of hardware running the operation
         * @param duration in ticks
         * @param waits the awaited value of each timeline
         * @param signals the signalled value of each timeline
         * @param queue the lane whose queue takes the operation; -1 to leave the choice to the run
         * @param submitted the tick of submission
         */
        public Operation(
                String id,
                String hardware,
                long duration,
                Map<String, Long> waits,
                Map<String, Long> signals,
                int queue,
                long submitted) {
            this(id, id, hardware, duration, waits, signals, queue, submitted, Map.of(), List.of());
        }

        /**
         * Makes an operation submitted at once.
         *
         * @param id the name
         * @param hardware the class of hardware running the operation
         * @param duration in ticks
         * @param waits the awaited value of each timeline
         * @param signals the signalled value of each timeline
         */
        public Operation(
                String id, String hardware, long duration, Map<String, Long> waits, Map<String, Long> signals) {
            this(id, hardware, duration, waits, signals, -1, 0);
        }

        private static Map<String, Long> values(String id, String verb, Map<String, Long> given) {
            Map<String, Long> copy = new LinkedHashMap<>(given);
            copy.forEach((semaphore, value) -> check(
                    "value of '%s' that operation '%s' %s".formatted(semaphore, id, verb), value, 1, MAXIMUM_VALUE));
            return Collections.unmodifiableMap(copy);
        }
    }

    /**
     * A dependency of an operation on the operation's previous repetition.
     *
     * @param operation the operation
     * @param semaphore a timeline signalled by the operation
     */
    public record IterationDependency(String operation, String semaphore) {}

    /**
     * A remark about a moment of the unscaled scenario.
     *
     * @param tick the moment
     * @param text the remark
     */
    public record Annotation(long tick, String text) {
        /** Checks the parts. */
        public Annotation {
            check("tick of an annotation", tick, 0, MAXIMUM_VALUE);
            checkText("an annotation", text);
        }
    }

    /**
     * Copies and checks the parts.
     *
     * @throws IreeException INVALID_ARGUMENT when the scenario could not be run, naming the defect
     */
    public Scenario {
        checkId("a scenario", id);
        checkText("the label", label);
        checkText("the description", description);
        checkCount("classes of hardware", hardware.size(), 1, MAXIMUM_HARDWARE);
        checkCount("semaphores", semaphores.size(), 0, MAXIMUM_SEMAPHORES);
        checkCount("operations", operations.size(), 1, MAXIMUM_OPERATIONS);
        checkCount("annotations", annotations.size(), 0, MAXIMUM_ANNOTATIONS);
        checkCount("chained semaphores", chainThrough.size(), 0, semaphores.size());
        checkCount("iteration dependencies", iterationDependencies.size(), 0, MAXIMUM_EDGES);
        hardware = List.copyOf(hardware);
        semaphores = List.copyOf(semaphores);
        operations = List.copyOf(operations);
        chainThrough = List.copyOf(chainThrough);
        iterationDependencies = List.copyOf(iterationDependencies);
        annotations = List.copyOf(annotations);
        ScenarioCheck.check(hardware, semaphores, operations, chainThrough, iterationDependencies, placement);
    }

    /**
     * Returns this scenario with another placement.
     *
     * @param other the placement
     * @return the scenario
     */
    public Scenario withPlacement(Placement other) {
        return new Scenario(
                id,
                label,
                description,
                other,
                hardware,
                semaphores,
                operations,
                chainThrough,
                iterationDependencies,
                annotations);
    }

    /**
     * Returns whether repetitions can be chained.
     *
     * @return true if some timeline links the repetitions
     */
    public boolean canRepeat() {
        return !chainThrough.isEmpty() || !iterationDependencies.isEmpty();
    }

    /**
     * Returns whether the number of lanes can be changed.
     *
     * @return true if a class of hardware is scalable
     */
    public boolean isScalable() {
        return hardware.stream().anyMatch(Hardware::scalable);
    }

    static IreeException invalid(String message) {
        return IreeException.of(StatusCode.INVALID_ARGUMENT, message);
    }

    static void check(String what, long value, long least, long most) {
        if (value < least || value > most) {
            throw invalid("%s is %d, which is not within [%d, %d]".formatted(what, value, least, most));
        }
    }

    private static void checkCount(String what, int count, int least, int most) {
        if (count < least || count > most) {
            throw invalid("%d %s are not within [%d, %d]; split the scenario".formatted(count, what, least, most));
        }
    }

    private static void checkText(String what, String text) {
        if (text.length() > MAXIMUM_TEXT) {
            throw invalid("%s has %d characters, more than %d".formatted(what, text.length(), MAXIMUM_TEXT));
        }
    }

    private static void checkLabel(String what, String id, String label) {
        if (label.isBlank()) {
            throw invalid("the label of %s '%s' is blank; leave the label out".formatted(what, id));
        }
        if (label.length() > MAXIMUM_NAME) {
            throw invalid("the label of %s '%s' has %d characters, more than %d"
                    .formatted(what, id, label.length(), MAXIMUM_NAME));
        }
        if (UNPRINTABLE.matcher(label).find()) {
            throw invalid(
                    "the label of %s '%s' contains a line break or another control character".formatted(what, id));
        }
    }

    private static void checkId(String what, String id) {
        if (id.isEmpty() || id.length() > MAXIMUM_NAME) {
            throw invalid("the id of %s has %d characters, which is not within [1, %d]"
                    .formatted(what, id.length(), MAXIMUM_NAME));
        }
        if (id.chars()
                .anyMatch(c -> Character.isISOControl(c) || Character.isWhitespace(c) || Character.isSpaceChar(c))) {
            throw invalid("id '%s' of %s contains white space or a control character"
                    .formatted(UNPRINTABLE.matcher(id).replaceAll("?"), what));
        }
    }
}
