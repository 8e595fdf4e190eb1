package io.github.iree4j.tools;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.task.Topology;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

/** The printed placement of workers. */
class TopologyCommandTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int iree4j(String... arguments) {
        return Iree4jCommand.execute(new PrintWriter(out), new PrintWriter(err), arguments);
    }

    @Test
    void printsALineForEachWorker() {
        assertThat(iree4j("topology", "cpus=0,8 l2=1M; cpus=1,9")).isZero();
        assertThat(out.toString()).isEqualToNormalizingNewlines("""
                        2 workers, as specified
                            0  cpus=0,8 l2=1M
                            1  cpus=1,9
                        """);
    }

    @Test
    void printsAnAcceptedSpecification() {
        assertThat(iree4j("topology", "--specification")).isZero();
        String line = out.toString().strip();
        assertThat(Topology.of(line)).isEqualTo(Topology.of("auto"));
        assertThat(iree4j("topology", line)).isZero();
    }

    @Test
    void reportsInvalidSpecifications() {
        assertThat(iree4j("topology", "workers=many")).isEqualTo(1);
        assertThat(err.toString()).contains("INVALID_ARGUMENT").contains("'workers' is 'many'");
    }
}
