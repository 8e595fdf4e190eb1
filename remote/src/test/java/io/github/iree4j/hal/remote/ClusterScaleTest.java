package io.github.iree4j.hal.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.iree4j.async.SemaphoreOptions;
import io.github.iree4j.async.SemaphoreScope;
import io.github.iree4j.async.TimelineSemaphore;
import io.github.iree4j.frontier.AxisAllocator;
import io.github.iree4j.frontier.CausalDomain;
import io.github.iree4j.frontier.Frontier;
import io.github.iree4j.frontier.MutableFrontier;
import io.github.iree4j.lab.ClusterStudy;
import java.io.IOException;
import java.lang.ref.Reference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The tables of docs/cluster-scale.md for a thousand nodes. {@code -Diree4j.docs.update=true} writes the tables. */
@Tag("nightly")
class ClusterScaleTest {
    private static final Path PAGE = Path.of("..", "docs", "cluster-scale.md");
    private static final int NODES = 1000;

    @Test
    void theTablesOfWorkSubmittedByOneNodeMatchRuns() throws IOException {
        for (int capacity : List.of(Frontier.DEFAULT_CAPACITY, Frontier.MAXIMUM_CAPACITY)) {
            ClusterStudy study = ClusterStudy.run(NODES, capacity);
            assertThat(study.rows())
                    .allSatisfy(
                            row -> assertThat(row.violations()).as(row.work()).isEmpty());
            check("capacity " + capacity, study.toTable());
        }
    }

    @Test
    void theTableOfWorkSubmittedByEachNodeMatchesRuns() throws IOException {
        StringBuilder table = new StringBuilder("| work | sessions | operations | frames each | bytes each | entries of"
                + " frontiers sent, median | most |\n|---|---|---|---|---|---|---|\n");
        for (ManyNodes.Outcome each : List.of(
                ManyNodes.run(NODES, nodes -> nodes.ring(2)),
                ManyNodes.run(NODES, nodes -> nodes.allReduce(4)),
                ManyNodes.run(NODES, nodes -> nodes.tensorParallel(2)))) {
            table.append("| %s | %d | %d | %.1f | %.0f | %d | %d |\n"
                    .formatted(
                            each.work(),
                            each.sessions(),
                            each.operations(),
                            each.frames(),
                            each.bytes(),
                            each.median(),
                            each.most()));
        }
        check("every node", table.toString());
    }

    private static void check(String name, String table) throws IOException {
        assumeTrue(Files.isDirectory(PAGE.getParent()), "docs is not beside this module");
        String page = Files.readString(PAGE);
        Matcher place = Pattern.compile("(<!-- " + name + " -->\n)(.*?)(<!-- end -->)", Pattern.DOTALL)
                .matcher(page);
        assertThat(place.find()).as("place of '%s' in %s", name, PAGE).isTrue();
        if (Boolean.getBoolean("iree4j.docs.update")) {
            Files.writeString(PAGE, page.substring(0, place.start(2)) + table + page.substring(place.end(2)));
        } else {
            assertThat(place.group(2))
                    .as("%s; update with -Diree4j.docs.update=true", PAGE)
                    .isEqualTo(table);
        }
    }

    /** Bytes kept alive by a timeline with the frontiers of the last 16 signals. */
    @Test
    void aSemaphoreKeepsAsMuchAsThePageSays() throws IOException {
        StringBuilder measured = new StringBuilder();
        for (int entries : new int[] {1, 12, 255}) {
            int count = entries == 255 ? 200 : 2000;
            retained(count, entries);
            long[] several = LongStream.generate(() -> retained(count, entries))
                    .limit(5)
                    .sorted()
                    .toArray();
            long bytes = several[2]; // garbage of other tests may vanish meanwhile
            Matcher said = Pattern.compile("^\\| " + entries + " \\| ([0-9,]+) \\|$", Pattern.MULTILINE)
                    .matcher(Files.readString(PAGE));
            assertThat(said.find()).as("a line for %d entries", entries).isTrue();
            long there = Long.parseLong(said.group(1).replace(",", ""));
            measured.append("%d entries: %d bytes, the page says %d\n".formatted(entries, bytes, there));
            System.out.printf("random: a timeline with frontiers of %d entries keeps %d bytes%n", entries, bytes);
            assertThat((double) bytes).as("%s", measured).isCloseTo(there, within(there * 0.1));
        }
    }

    private static long retained(int count, int entries) {
        Object[] kept = new Object[count];
        AxisAllocator axes = AxisAllocator.create(1, 0);
        long before = used();
        for (int i = 0; i < count; i++) {
            TimelineSemaphore timeline =
                    TimelineSemaphore.create(SemaphoreOptions.DEFAULTS.withScope(SemaphoreScope.SYSTEM_WIDE));
            timeline.keepHistory();
            MutableFrontier past = new MutableFrontier(Frontier.MAXIMUM_CAPACITY);
            for (int other = 1; other < entries; other++) {
                past.insertOrRaise(axes.allocate(CausalDomain.QUEUE), 1, _ -> 0);
            }
            long own = axes.allocate(CausalDomain.QUEUE);
            for (int value = 1; value <= 16; value++) {
                timeline.signal(value, past.produce(own, value, _ -> 0));
            }
            kept[i] = timeline;
        }
        long after = used();
        Reference.reachabilityFence(kept);
        return (after - before) / count;
    }

    private static long used() {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 4; i++) {
            System.gc();
            least = Math.min(
                    least,
                    Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory());
        }
        return least;
    }
}
