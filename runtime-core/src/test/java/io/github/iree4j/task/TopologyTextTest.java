package io.github.iree4j.task;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Explicitly specified topologies. */
class TopologyTextTest {
    @Test
    void groupsAreTakenAsSpecified() {
        Topology topology =
                Topology.of("cpus=0,8 node=0 class=efficiency l1=32K l2=1M l3=33554432 cache=0; cpus=any;\n");
        assertThat(topology.groups())
                .containsExactly(
                        new TopologyGroup(List.of(0, 8), 0, true, 32 << 10, 1 << 20, 32 << 20, 0),
                        new TopologyGroup(List.of(), -1, false, 0, 0, 0, -1));
        assertThat(topology.toString())
                .isEqualTo("cpus=0,8 node=0 class=efficiency l1=32K l2=1M l3=32M cache=0; cpus=any");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "workers=3 | workers=3",
                "each=0-2,5 | cpus=0; cpus=1; cpus=2; cpus=5",
                "each=7; workers=2 | cpus=7; cpus=any; cpus=any",
                "cpus=3,1,2,9 class=performance | cpus=1-3,9",
                "cpus=any; cpus=any | workers=2",
                "cpus=0 l1=1025 | cpus=0 l1=1025",
                "cpus=8191 node=1023 l3=1024G cache=8191 | cpus=8191 node=1023 l3=1024G cache=8191"
            })
    void textRoundTrips(String written, String printed) {
        Topology topology = Topology.of(written);
        assertThat(topology.toString()).isEqualTo(printed);
        assertThat(Topology.of(printed)).isEqualTo(topology).hasSameHashCodeAs(topology);
    }

    @Test
    void recordedMachinesRoundTrip(@TempDir Path root) {
        Topology topology = new RecordedMachine(root).twoSockets().topology("mode=threads");
        assertThat(topology.toString()).startsWith("cpus=0 node=0 l1=32K l2=1M l3=33M cache=0; cpus=1 ");
        assertThat(Topology.of(topology.toString())).isEqualTo(topology);
        assertThat(Topology.of(topology.toString().replace("; ", "\n"))).isEqualTo(topology);
    }

    @Test
    void optionsRoundTrip(@TempDir Path root) {
        RecordedMachine machine = new RecordedMachine(root).twoSockets();
        TopologyOptions options = new TopologyOptions(
                TopologyOptions.Mode.THREADS,
                5,
                List.of(1),
                TopologyOptions.Cores.PERFORMANCE,
                TopologyOptions.Distribution.COMPACT);
        assertThat(options.toString()).isEqualTo("mode=threads max=5 nodes=1 cores=performance distribution=compact");
        assertThat(machine.topology(options.toString())).isEqualTo(Topology.detect(options, root, 1024));
        assertThat(TopologyOptions.DEFAULTS.toString()).isEqualTo("mode=cores cores=any distribution=scatter");
        assertThat(machine.topology("auto")).isEqualTo(machine.topology(TopologyOptions.DEFAULTS.toString()));
    }

    @Test
    void affinityMaskHasABitForEachProcessor() {
        assertThat(Topology.of("cpus=0,63-64,130").groups().getFirst().affinityMask())
                .containsExactly(1L | 1L << 63, 1L, 4L);
        assertThat(Topology.ofWorkers(1).groups().getFirst().affinityMask()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "`` | topology is empty",
                "` ` | topology is empty",
                "many | 'many' in group 0 of the topology is not of the form name=value",
                "=4 | '=4' in group 0",
                "workers= | 'workers=' in group 0",
                "workers=0 | 'workers' is '0' and must be a number within [1, 256]",
                "workers=257 | 'workers' is '257'",
                "workers=-1 | 'workers' is '-1'",
                "workers=99999999999999999999 | 'workers' is '9999",
                "workers=2 cpus=1 | 'workers' must be alone in its group, without 'cpus'",
                "each=0-256 | more than 256 groups",
                "each=0-255; cpus=any | more than 256 groups",
                "cpus=1; node=3 | group 1 of the topology has no 'cpus'",
                "cpus=1;;cpus=2 | group 1 of the topology is empty",
                "cpus=1 cpus=2 | 'cpus' is given twice in group 0",
                "cpus=1-x | 'cpus' is '1-x': 'x' is not a number",
                "cpus=3-1 | range '3-1' ends before it starts",
                "cpus=1,,2 | '' is not a number",
                "cpus=8192 | 8192 is beyond the limit of 8191",
                "cpus=0-4000000000 | '4000000000' is not a number",
                "cpus=1 size=4 | 'size' of group 0 is unknown",
                "cpus=1 node=1024 | 'node' is '1024' and must be a number within [0, 1023]",
                "cpus=1 class=slow | 'class' is 'slow' and must be performance or efficiency",
                "cpus=1 l1=32KB | 'l1' is '32KB' and must be a size",
                "cpus=1 l1=1025G | 'l1' is '1025G' and must be a size",
                "cpus=1 l2=K | 'l2' is 'K' and must be a size",
                "mode=sockets | 'mode' is 'sockets' and must be cores or threads",
                "max=0 | 'max' is '0' and must be a number within [1, 256]",
                "nodes=a | 'nodes' is 'a': 'a' is not a number",
                "threads=4 | 'threads' of the topology is unknown; choose places by mode, max"
            })
    void mistakesAreNamed(String text, String message) {
        assertThatThrownBy(() -> Topology.of(text))
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT))
                .hasMessageContaining(message);
    }

    @ParameterizedTest
    @ValueSource(ints = {70_000, 60_000, 200})
    void longTextsAreAbbreviatedInMessages(int length) {
        assertThatThrownBy(() -> Topology.of("cpus=\0" + "9".repeat(length)))
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT))
                .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(300).doesNotContain("\0"));
    }

    @Test
    void groupsAndOptionsOutOfRangeAreRefused() {
        assertThatThrownBy(() -> new TopologyGroup(List.of(-1), 0, false, 0, 0, 0, 0))
                .hasMessageContaining("'processor' is -1 and must be within [0, 8191]");
        assertThatThrownBy(() -> new TopologyGroup(List.of(), 0, false, 0, -5, 0, 0))
                .hasMessageContaining("'l2' is -5");
        assertThatThrownBy(() -> TopologyOptions.DEFAULTS.withMaxWorkers(257))
                .hasMessageContaining("'max' is 257 and must be within [0, 256]");
    }
}
