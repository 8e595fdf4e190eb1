package io.github.iree4j.lab;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.lab.LabResult.OperationRun;
import io.github.iree4j.lab.Scenario.Annotation;
import io.github.iree4j.lab.Scenario.Hardware;
import io.github.iree4j.lab.Scenario.Operation;
import io.github.iree4j.lab.Scenario.Semaphore;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The texts of the laboratory's scenarios for people. Annotations have the labels of operations in quotation marks, and
 * a value of a timeline as {@code Label at 2}; claims about a run in these words are compared with the run.
 */
class BuiltinScenarioTest {
    private static final Pattern QUOTED = Pattern.compile("“([^”]*)”");
    private static final Pattern STARTS = Pattern.compile("“([^”]*)” starts\\b");
    private static final Pattern ENDED = Pattern.compile("“([^”]*)” has ended\\b");
    private static final Pattern FRONTIER = Pattern.compile("“([^”]*)” has ended with ([^.:]*)");

    static Stream<String> ids() {
        return Laboratory.scenarios().stream().map(Scenario::id);
    }

    @ParameterizedTest
    @MethodSource("ids")
    void everythingHasASeparateLabel(String id) {
        Scenario scenario = Laboratory.scenario(id);
        Map<String, String> hardware =
                scenario.hardware().stream().collect(Collectors.toMap(Hardware::id, Hardware::label));
        Map<String, String> semaphores =
                scenario.semaphores().stream().collect(Collectors.toMap(Semaphore::id, Semaphore::label));
        Map<String, String> operations =
                scenario.operations().stream().collect(Collectors.toMap(Operation::id, Operation::label));
        for (Map<String, String> each : List.of(hardware, semaphores, operations)) {
            assertThat(each.entrySet())
                    .as("labels other than the ids")
                    .noneMatch(label -> label.getKey().equals(label.getValue()));
            assertThat(each.values()).doesNotHaveDuplicates();
        }
    }

    @ParameterizedTest
    @MethodSource("ids")
    void annotationsFollowEachOtherWhenSomethingHappens(String id) {
        Scenario scenario = Laboratory.scenario(id);
        Set<Long> moments = new HashSet<>(Set.of(0L));
        Laboratory.run(scenario, LabOptions.DEFAULTS).operations().forEach(each -> {
            moments.add(each.start());
            moments.add(each.end());
        });
        List<Long> ticks = scenario.annotations().stream().map(Annotation::tick).toList();
        assertThat(ticks).hasSizeGreaterThanOrEqualTo(3).isSorted().doesNotHaveDuplicates();
        assertThat(moments).containsAll(ticks);
    }

    @ParameterizedTest
    @MethodSource("ids")
    void annotationsDescribeTheEvents(String id) {
        Scenario scenario = Laboratory.scenario(id);
        LabResult result = Laboratory.run(scenario, LabOptions.DEFAULTS);
        Map<String, OperationRun> operations = result.operations().stream()
                .collect(Collectors.toMap(each -> each.operation().label(), each -> each));
        Map<String, String> semaphores =
                scenario.semaphores().stream().collect(Collectors.toMap(Semaphore::label, Semaphore::id));
        for (Annotation each : scenario.annotations()) {
            long tick = each.tick();
            assertThat(operations.keySet()).as(each.text()).containsAll(found(QUOTED, each.text()));
            for (String label : found(STARTS, each.text())) {
                assertThat(get(operations, label).start()).as(each.text()).isEqualTo(tick);
            }
            for (String label : found(ENDED, each.text())) {
                assertThat(get(operations, label).end()).as(each.text()).isEqualTo(tick);
            }
            FRONTIER.matcher(each.text())
                    .results()
                    .forEach(claim -> assertThat(get(operations, claim.group(1)).frontier())
                            .as(each.text())
                            .isEqualTo(values(semaphores, " at ", claim.group(2))));
            values(semaphores, " is at ", each.text())
                    .forEach((semaphore, value) -> assertThat(valueAt(result, semaphore, tick))
                            .as(each.text())
                            .isEqualTo(value));
            values(semaphores, " at ", each.text())
                    .forEach((semaphore, value) -> assertThat(value)
                            .as(each.text())
                            .isLessThanOrEqualTo(valueAt(result, semaphore, result.finalTick())));
            assertThat(Pattern.compile("\\bat \\d").matcher(each.text()).results())
                    .as("values that are values of a timeline, in: %s", each.text())
                    .hasSize(Math.toIntExact(mentions(semaphores.keySet(), " (?:is )?at ", each.text())
                            .count()));
        }
    }

    private static List<String> found(Pattern pattern, String text) {
        return pattern.matcher(text).results().map(each -> each.group(1)).toList();
    }

    private static OperationRun get(Map<String, OperationRun> operations, String label) {
        return Objects.requireNonNull(operations.get(label), label);
    }

    private static Stream<MatchResult> mentions(Set<String> labels, String verb, String text) {
        String any = labels.stream().map(Pattern::quote).collect(Collectors.joining("|"));
        return Pattern.compile("\\b(" + any + ")" + verb + "(\\d+)")
                .matcher(text)
                .results();
    }

    private static Map<String, Long> values(Map<String, String> semaphores, String verb, String text) {
        Map<String, Long> values = new HashMap<>();
        mentions(semaphores.keySet(), verb, text)
                .forEach(each -> values.merge(
                        Objects.requireNonNull(semaphores.get(each.group(1))), Long.valueOf(each.group(2)), Math::max));
        return values;
    }

    private static long valueAt(LabResult result, String semaphore, long tick) {
        return result.operations().stream()
                .filter(each -> each.end() <= tick)
                .mapToLong(each -> each.operation().signals().getOrDefault(semaphore, 0L))
                .max()
                .orElse(0);
    }
}
