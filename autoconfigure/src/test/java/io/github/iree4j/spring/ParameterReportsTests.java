package io.github.iree4j.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.modules.parameters.ParameterProgress;
import io.github.iree4j.modules.parameters.ParameterProgress.Phase;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Reports of parameter progress. */
@Timeout(900)
class ParameterReportsTests {

    private static final Path FILE = Path.of("weights.irpa");

    private final List<ParameterProgress> reports = new CopyOnWriteArrayList<>();
    private final List<Double> fractions = new CopyOnWriteArrayList<>();
    private final ParameterReports listener = new ParameterReports((parameters, fraction) -> {
        reports.add(parameters);
        fractions.add(fraction);
    });

    private void progress(Phase phase, String scope, long done, long total) {
        listener.progressed(new ParameterProgress(phase, scope, FILE, done, total));
    }

    /** The reports made until close. */
    private List<ParameterProgress> reported(int count) {
        while (reports.size() < count) {
            Poll.pause();
        }
        listener.close();
        return reports;
    }

    @Test
    void manyRequestsAddUpToTheirFile() {
        progress(Phase.OPENED, "model", 0, 1000);
        for (int i = 0; i < 10; i++) {
            progress(Phase.LOADING, "model", 50, 100);
            progress(Phase.LOADED, "model", 100, 100);
        }
        assertThat(reported(21)).hasSize(21);
        assertThat(reports.getFirst().phase()).isEqualTo(Phase.OPENED);
        assertThat(reports.getLast()).isEqualTo(new ParameterProgress(Phase.LOADING, "model", FILE, 1000, 1000));
        assertThat(fractions).isSorted().last().isEqualTo(1.0);
    }

    @Test
    void reportsAreThrottled() {
        progress(Phase.OPENED, "model", 0, 1_000_000);
        for (int i = 0; i < 100_000; i++) {
            progress(Phase.LOADED, "model", 10, 10);
        }
        assertThat(reported(21)).hasSize(21);
    }

    @Test
    void archiveOfANamedAndTheUnnamedScopeCountsOnce() {
        progress(Phase.OPENED, "default", 0, 100);
        progress(Phase.OPENED, "", 0, 100);
        progress(Phase.LOADED, "", 100, 100);
        assertThat(reported(2))
                .containsExactly(
                        new ParameterProgress(Phase.OPENED, "default", FILE, 0, 100),
                        new ParameterProgress(Phase.LOADING, "default", FILE, 100, 100));
    }

    @Test
    void fractionCoversAllScopes() {
        progress(Phase.OPENED, "small", 0, 100);
        progress(Phase.OPENED, "large", 0, 300);
        progress(Phase.LOADED, "small", 100, 100);
        reported(3);
        assertThat(fractions).last().isEqualTo(0.25);
    }

    @Test
    void finalReportHasTheBytesLoaded() {
        progress(Phase.OPENED, "model", 0, 1000);
        progress(Phase.LOADED, "model", 400, 400);
        listener.loaded();
        assertThat(reported(2)).last().isEqualTo(new ParameterProgress(Phase.LOADED, "model", null, 400, 400));
    }

    @Test
    void failuresAreReportedAndNothingAfterClose() {
        progress(Phase.OPENED, "model", 0, 100);
        progress(Phase.FAILED, "model", 0, 100);
        assertThat(reported(2))
                .last()
                .satisfies(report -> assertThat(report.phase()).isEqualTo(Phase.FAILED));
        progress(Phase.LOADED, "model", 100, 100);
        assertThat(reports).hasSize(2);
    }
}
