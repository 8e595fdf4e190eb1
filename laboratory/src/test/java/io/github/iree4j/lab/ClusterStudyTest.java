package io.github.iree4j.lab;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.lab.ClusterStudy.Row;
import io.github.iree4j.status.IreeException;
import java.util.List;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;

/** Work for many nodes, submitted by a single node. docs/cluster-scale.md has a thousand. */
class ClusterStudyTest {
    private static final int NODES = 64;

    private static final List<Row> NARROW = run(Frontier.DEFAULT_CAPACITY);
    private static final List<Row> WIDE = run(Frontier.MAXIMUM_CAPACITY);

    private static List<Row> run(int capacity) {
        List<Row> rows = ClusterStudy.run(NODES, capacity).rows();
        assertThat(rows)
                .hasSize(7)
                .allSatisfy(row -> assertThat(row.violations()).as(row.work()).isEmpty());
        return rows;
    }

    private static Row of(List<Row> rows, String work) {
        return rows.stream()
                .filter(each -> each.work().equals(work))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void withAChannelAFrontierHasASingleEntryForAllParticipants() {
        Row channel = of(WIDE, "all-reduce over all nodes, a channel");
        assertThat(channel.maximumEntries()).isEqualTo(1);
        assertThat(channel.tainted()).isZero();
        assertThat(channel.held())
                .as("work behind a collective is held by the host")
                .isPositive();
    }

    @Test
    void withoutAChannelAFrontierHasAnEntryForEachParticipant() {
        Row plain = of(WIDE, "all-reduce over all nodes, at one node");
        assertThat(plain.maximumEntries()).isEqualTo(NODES);
        assertThat(plain.tainted()).isZero();
        assertThat(plain.held()).isZero();
    }

    /** Nothing starts early, and no wait is dropped for entries lost by a frontier: a run checks both. */
    @Test
    void excessEntriesTaintAndChangeNothingElse() {
        assertThat(of(NARROW, "ring").maximumEntries()).isEqualTo(Frontier.DEFAULT_CAPACITY);
        assertThat(of(NARROW, "ring").tainted()).isPositive();
        assertThat(WIDE).allMatch(row -> row.tainted() == 0);
        for (int i = 0; i < WIDE.size(); i++) {
            assertThat(NARROW.get(i).ticks()).isEqualTo(WIDE.get(i).ticks());
            assertThat(NARROW.get(i).deviceWaits())
                    .isGreaterThanOrEqualTo(WIDE.get(i).deviceWaits());
        }
    }

    @Test
    void aTableHasALineForEachKindOfWork() {
        String table = new ClusterStudy(NARROW).toTable();
        assertThat(table.lines()).hasSize(2 + 7).anyMatch(line -> line.startsWith("| ring | 128 | 12 | 12 | "));
    }

    @Test
    void numbersOutOfRangeAreRefused() {
        Assertions.assertThatThrownBy(() -> ClusterStudy.run(7, 12))
                .isInstanceOf(IreeException.class)
                .hasMessageContaining("number of nodes is 7");
        Assertions.assertThatThrownBy(() -> ClusterStudy.run(64, 256))
                .isInstanceOf(IreeException.class)
                .hasMessageContaining("256");
    }
}
