package io.github.iree4j.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.spring.IreeEvents;
import io.github.iree4j.spring.ProgramSource;
import io.github.iree4j.spring.ProgramState;
import io.github.iree4j.spring.ProgramStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class ProgramStatusLogTests {
    private final IreeEvents events = new IreeEvents();
    private final ProgramStatusLog log = new ProgramStatusLog(events);

    private static ProgramStatus loading(String step, double progress) {
        return new ProgramStatus(
                ProgramSource.of("model", "model.vmfb"),
                ProgramState.LOADING,
                step,
                progress,
                null,
                Instant.EPOCH,
                Duration.ZERO,
                null,
                List.of());
    }

    @Test
    void aQuarterOfTheLoadIsNotMistakenForAPartOfTheParameters() {
        log.write(loading("loading", 0.1));
        log.write(loading("parameters of scope 'model': 16384 of 20480 bytes", 0.66));
        assertThat(events.since(0, 10))
                .extracting(IreeEvents.Event::message)
                .containsExactly(
                        "loading from 'model.vmfb'",
                        "66 % of loading and warming up; now parameters of scope 'model': 16384 of 20480 bytes");
    }
}
