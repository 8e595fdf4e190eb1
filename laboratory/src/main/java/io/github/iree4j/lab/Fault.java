package io.github.iree4j.lab;

import static io.github.iree4j.lab.Scenario.invalid;

import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * An injected failure or delay in a run.
 *
 * @param kind the kind of fault
 * @param target a class of hardware, a machine or an operation; a machine represents all its hardware
 * @param tick the time of the fault
 * @param factor how many times longer slow work takes, 2 to 1000; 1 for other kinds
 */
public record Fault(Kind kind, String target, long tick, int factor) {
    private static final int MAXIMUM_FACTOR = 1000;

    private static final Pattern FORM = Pattern.compile("(\\w+):(.+?)(?:\\*(\\d{1,9}))?(?:@(\\d{1,15}))?");

    /** Ids may have commas: only a comma followed by another fault separates. */
    private static final Pattern SEPARATOR = Pattern.compile(",(?=(?i:kill|lose|slow|fail|exhaust|reject):)");

    /** Kinds of faults. */
    public enum Kind {
        /**
         * The machine is lost, with all hardware at once. For hardware and operations: the machine containing or
         * running the target.
         */
        KILL,
        /** The hardware is lost: all work on the hardware fails. For an operation: the operation's hardware. */
        LOSE,
        /** Operations starting at the tick or later take longer. */
        SLOW,
        /** Operations running at the tick fail at the end; an operation named by id fails at any tick. */
        FAIL,
        /** The first operation starting at the tick or later gets no memory and ends with RESOURCE_EXHAUSTED. */
        EXHAUST,
        /**
         * The operation verifies the first awaited operation of another queue, the draft, and finds the draft wrong:
         * once the host knows of the end, incomplete work standing on the draft is cancelled, as by
         * {@link io.github.iree4j.hal.schedule.SpeculationScope#reject}. The tick does not matter.
         */
        REJECT
    }

    /** Checks the parts. */
    public Fault {
        Scenario.check("tick of a fault", tick, 0, Scenario.MAXIMUM_VALUE);
        Scenario.check("factor of a fault", factor, kind == Kind.SLOW ? 2 : 1, kind == Kind.SLOW ? MAXIMUM_FACTOR : 1);
    }

    /**
     * Reads a list of faults.
     *
     * @param list faults in the form of {@link #parse}, separated by commas
     * @param most the most faults
     * @return the faults
     * @throws io.github.iree4j.status.IreeException INVALID_ARGUMENT when there are more, or for an invalid fault
     */
    public static List<Fault> parseList(String list, int most) {
        String[] parts = SEPARATOR.split(list, most + 1);
        if (parts.length > most) {
            throw invalid("a run has at most %d faults".formatted(most));
        }
        return Stream.of(parts).map(Fault::parse).toList();
    }

    /**
     * Reads a fault. The end of a target in the form of a factor or a tick is read as such: {@code fail:a@5@0} names
     * {@code a@5}.
     *
     * @param text such as {@code lose:gpu@5}, {@code slow:gpu*3@5}, {@code fail:decode} or {@code exhaust:gpu@2}
     * @return the fault
     * @throws io.github.iree4j.status.IreeException INVALID_ARGUMENT for an invalid fault
     */
    public static Fault parse(String text) {
        Matcher form = FORM.matcher(text);
        if (text.length() > 300 || !form.matches()) {
            throw invalid("fault '%.300s' is not of the form KIND:TARGET[*FACTOR][@TICK], such as 'lose:gpu@5'"
                    .formatted(text));
        }
        Kind kind;
        try {
            kind = Kind.valueOf(form.group(1).toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            throw invalid("'%s' is no kind of fault; there are kill, lose, slow, fail, exhaust and reject"
                    .formatted(form.group(1)));
        }
        String target = form.group(2);
        int factor = kind == Kind.SLOW ? 2 : 1;
        if (form.group(3) != null && kind == Kind.SLOW) {
            factor = Integer.parseInt(form.group(3));
        } else if (form.group(3) != null) {
            target += "*" + form.group(3); // other kinds have no factor
        }
        return new Fault(kind, target, form.group(4) == null ? 0 : Long.parseLong(form.group(4)), factor);
    }

    @Override
    public String toString() {
        return kind.name().toLowerCase(Locale.ROOT) + ":" + target + (factor > 1 ? "*" + factor : "") + "@" + tick;
    }
}
