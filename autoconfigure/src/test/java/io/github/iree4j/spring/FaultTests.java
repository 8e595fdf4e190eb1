package io.github.iree4j.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.async.Deadline;
import io.github.iree4j.status.FileFault;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.KernelFault;
import io.github.iree4j.status.NeverFits;
import io.github.iree4j.status.StatusCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class FaultTests {

    private static final Duration LIMIT = Duration.ofSeconds(5);

    private static Fault late(@Nullable Duration own, @Nullable Duration limit, Duration took) {
        AtomicLong clock = new AtomicLong();
        Deadline deadline = own == null ? null : Deadline.after(own, clock::get);
        clock.set(took.toNanos());
        return Fault.of(IreeException.of(StatusCode.DEADLINE_EXCEEDED, "late"), deadline, limit);
    }

    @Test
    void callBegunTooLateForTheLimitIsTheCallers() {
        Duration longer = LIMIT.multipliedBy(2);
        assertThat(late(longer, LIMIT, longer)).isEqualTo(Fault.CALLER);
    }

    @Test
    void aDeadlineBelowTheLimitIsTheCallers() {
        Duration own = Duration.ofNanos(1_000);
        assertThat(late(own, LIMIT, own)).isEqualTo(Fault.CALLER);
        assertThat(late(own, null, own)).isEqualTo(Fault.CALLER);
    }

    @Test
    void theLimitIsTheModels() {
        assertThat(late(null, LIMIT, LIMIT)).isEqualTo(Fault.MODEL);
        assertThat(late(LIMIT, LIMIT, LIMIT)).isEqualTo(Fault.MODEL);
        assertThat(late(LIMIT.multipliedBy(2), LIMIT, LIMIT)).isEqualTo(Fault.MODEL);
    }

    /** A function in Java with a wait for something else may report the wait long before. */
    @Test
    void latenessBeforeTheCallersDeadlineIsTheModelsFault() {
        assertThat(late(Duration.ofSeconds(2), LIMIT, Duration.ofSeconds(1))).isEqualTo(Fault.MODEL);
        assertThat(late(null, null, Duration.ofSeconds(1))).isEqualTo(Fault.MODEL);
    }

    @Test
    void cancellingIsTheCallers() {
        assertThat(Fault.of(new CancellationException(), null, LIMIT)).isEqualTo(Fault.CALLER);
    }

    @Test
    void aTooLargeCallIsTheCallersFault() {
        IreeException failure = IreeException.of(StatusCode.RESOURCE_EXHAUSTED, "no", null, new NeverFits(1 << 30));
        assertThat(Fault.of(failure, null, LIMIT)).isEqualTo(Fault.CALLER);
    }

    /** A caller's sizes or values can make a kernel read where nothing is. */
    @Test
    void aFailingKernelIsNobodysFaultForSure() {
        IreeException failure = IreeException.of(StatusCode.INTERNAL, "no", null, new KernelFault());
        assertThat(Fault.of(failure, null, LIMIT)).isEqualTo(Fault.UNKNOWN);
        assertThat(Fault.of(failure.during("in @main"), null, LIMIT)).isEqualTo(Fault.UNKNOWN);
    }

    @Test
    void aTouchedOrSilentFileIsTheOperatorsFault() {
        IreeException failure = IreeException.of(StatusCode.UNAVAILABLE, "touched", null, new FileFault());
        assertThat(Fault.of(failure, null, LIMIT)).isEqualTo(Fault.OPERATOR);
        assertThat(Fault.of(failure.during("in a program"), null, LIMIT)).isEqualTo(Fault.OPERATOR);
        IreeException late = IreeException.of(StatusCode.DEADLINE_EXCEEDED, "late", failure);
        assertThat(Fault.of(late, null, LIMIT)).isEqualTo(Fault.OPERATOR);
        assertThat(Fault.of(late, Deadline.after(Duration.ZERO), LIMIT)).isEqualTo(Fault.CALLER);
    }

    @Test
    void failuresWithoutAStatusAreUnknown() {
        assertThat(Fault.of(new IllegalStateException(), null, LIMIT)).isEqualTo(Fault.UNKNOWN);
    }

    /** Each status is in exactly one row of the table of {@code docs/calls.md}; DEADLINE_EXCEEDED is in two. */
    @Test
    void everyStatusIsDocumentedWithItsFault() throws IOException {
        String documentation = Files.readString(Path.of("../docs/calls.md"));
        for (Fault fault : Fault.values()) {
            String statuses = Arrays.stream(StatusCode.values())
                    .filter(code -> code != StatusCode.OK && code != StatusCode.DEFERRED)
                    .filter(code -> code != StatusCode.DEADLINE_EXCEEDED)
                    .filter(code -> Fault.of(IreeException.of(code, "no"), null, LIMIT) == fault)
                    .map(Enum::name)
                    .collect(Collectors.joining(", "));
            assertThat(documentation)
                    .contains("| `%s` | %s".formatted(fault.name().toLowerCase(Locale.ROOT), statuses));
        }
    }
}
