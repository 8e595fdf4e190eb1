package io.github.iree4j.lab;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.iree4j.lab.LabResult.OperationRun;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Claims about runs of the scenarios shipped with the runtime. */
class LaboratoryTest {
    private static List<Map<String, Object>> expected() {
        try (InputStream in = LaboratoryTest.class.getResourceAsStream("/lab/expected.json")) {
            List<Map<String, Object>> all =
                    cast(YamlReader.read(new String(in.readAllBytes(), StandardCharsets.UTF_8)));
            return all;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @SuppressWarnings("unchecked")
    private static <T> T cast(Object value) {
        return (T) value;
    }

    private static Map<String, Long> values(Object map) {
        Map<String, Long> values = new HashMap<>();
        Map<String, String> texts = cast(map);
        texts.forEach((key, value) -> values.put(key, Long.parseLong(value)));
        return values;
    }

    @TestFactory
    Stream<DynamicTest> aScenarioGivesTheExpectedSchedule() {
        return expected().stream()
                .map(each -> DynamicTest.dynamicTest((String) each.get("id"), () -> {
                    LabResult result =
                            Laboratory.run(Laboratory.scenario((String) each.get("id")), LabOptions.DEFAULTS);
                    assertThat(result.violations()).isEmpty();
                    assertThat(result.finalTick()).isEqualTo(Long.parseLong((String) each.get("finalTick")));
                    List<Map<String, Object>> operations = cast(each.get("ops"));
                    assertThat(result.operations()).hasSameSizeAs(operations);
                    for (int i = 0; i < operations.size(); i++) {
                        Map<String, Object> wanted = operations.get(i);
                        OperationRun run = result.operations().get(i);
                        assertThat(Map.of(
                                        "id",
                                        run.operation().id(),
                                        "hw",
                                        run.operation().hardware(),
                                        "duration",
                                        "" + run.operation().duration(),
                                        "start",
                                        "" + run.start(),
                                        "end",
                                        "" + run.end(),
                                        "lane",
                                        run.lane()))
                                .isEqualTo(Map.of(
                                        "id", wanted.get("id"),
                                        "hw", wanted.get("hw"),
                                        "duration", wanted.get("duration"),
                                        "start", wanted.get("start"),
                                        "end", wanted.get("end"),
                                        "lane", wanted.get("lane")));
                        assertThat(run.operation().waits()).isEqualTo(values(wanted.get("wait")));
                        assertThat(run.operation().signals()).isEqualTo(values(wanted.get("signal")));
                        assertThat(run.frontier()).as(run.operation().id()).isEqualTo(values(wanted.get("frontier")));
                    }
                    Map<String, Map<String, Object>> semaphores = cast(each.get("sems"));
                    assertThat(result.semaphores().keySet()).isEqualTo(semaphores.keySet());
                    semaphores.forEach((id, wanted) -> {
                        assertThat("" + result.semaphores().get(id).value()).isEqualTo(wanted.get("value"));
                        assertThat(result.semaphores().get(id).frontier()).isEqualTo(values(wanted.get("frontier")));
                    });
                }));
    }

    @TestFactory
    Stream<DynamicTest> aScaledScenarioEndsAtTheExpectedTick() {
        return expected().stream()
                .map(each -> DynamicTest.dynamicTest((String) each.get("id"), () -> {
                    Scenario scenario = Laboratory.scenario((String) each.get("id"));
                    Map<String, Map<String, Object>> grid = cast(each.get("grid"));
                    grid.forEach((point, wanted) -> {
                        Scale scale = new Scale(
                                point.charAt(1) - '0',
                                point.charAt(3) - '0',
                                point.charAt(5) == '-' ? 0 : point.charAt(5) - '0');
                        LabResult result = Laboratory.run(scenario, LabOptions.DEFAULTS.withScale(scale));
                        assertThat("" + result.finalTick()).as(point).isEqualTo(wanted.get("finalTick"));
                        assertThat("" + result.operations().size()).as(point).isEqualTo(wanted.get("retiredOps"));
                        assertThat(result.isRetired()).as(point).isTrue();
                    });
                }));
    }

    private static boolean allocates(Scenario scenario) {
        return scenario.operations().stream().anyMatch(each -> !each.allocates().isEmpty());
    }

    /**
     * Against a simulator without parts of the scheduler, and without knowledge of memory; the fourteen at all widths,
     * depths and lanes.
     */
    @TestFactory
    Stream<DynamicTest> everyPointOfTheGridFollowsTheRules() {
        List<Object> fourteen = expected().stream().map(each -> each.get("id")).toList();
        return Laboratory.scenarios().stream()
                .filter(each -> !allocates(each))
                .map(scenario -> DynamicTest.dynamicTest(scenario.id(), () -> {
                    boolean all = fourteen.contains(scenario.id());
                    for (int width = 1; width <= (all ? 4 : 2); width++) {
                        int deepest = !scenario.canRepeat() ? 1 : all ? 8 : 3;
                        for (int depth = 1; depth <= deepest; depth++) {
                            Map<String, Map<String, Long>> ofOneLane = null;
                            for (int lanes = scenario.isScalable() ? 1 : 0;
                                    lanes <= (scenario.isScalable() ? 4 : 0);
                                    lanes++) {
                                Scale scale = new Scale(width, depth, lanes);
                                LabResult result = Laboratory.run(scenario, LabOptions.DEFAULTS.withScale(scale));
                                assertMatches(result, scale);
                                Map<String, Map<String, Long>> frontiers = new HashMap<>();
                                result.operations()
                                        .forEach(each ->
                                                frontiers.put(each.operation().id(), each.frontier()));
                                ofOneLane = ofOneLane == null ? frontiers : ofOneLane;
                                assertThat(frontiers)
                                        .as("frontiers with %s", scale)
                                        .isEqualTo(ofOneLane);
                            }
                        }
                    }
                }));
    }

    private static void assertMatches(LabResult result, Scale scale) {
        Oracle oracle = new Oracle(result.scenario());
        assertThat(result.violations()).as("%s", scale).isEmpty();
        assertThat(result.collateral()).isEmpty();
        assertThat(result.finalTick()).as("%s", scale).isEqualTo(oracle.finalTick);
        assertThat(result.operations().stream()
                        .map(run -> new Oracle.Run(run.start(), run.end(), run.lane(), run.frontier()))
                        .toList())
                .as("%s", scale)
                .isEqualTo(oracle.runs);
        assertThat(result.operations().stream().anyMatch(OperationRun::isTainted))
                .isFalse();
        result.semaphores().forEach((id, state) -> {
            assertThat(state.value()).isEqualTo(oracle.values.get(id));
            assertThat(state.frontier()).isEqualTo(oracle.frontiers.get(id));
        });
    }

    @Test
    void copiesShareNothingButHardware() {
        for (Scenario scenario : Laboratory.scenarios()) {
            if (allocates(scenario)) {
                continue; // memory orders copies
            }
            for (int depth = 1; depth <= (scenario.canRepeat() ? 8 : 1); depth++) {
                assertCopiesShareNothing(scenario, depth);
            }
        }
    }

    private static void assertCopiesShareNothing(Scenario scenario, int depth) {
        LabResult result = Laboratory.run(scenario, LabOptions.DEFAULTS.withScale(new Scale(4, depth, 0)));
        Map<String, Integer> owner = new HashMap<>();
        int size = scenario.operations().size() * depth;
        for (int i = 0; i < result.operations().size(); i++) {
            int copy = i / size;
            Set<String> mentioned =
                    new HashSet<>(result.operations().get(i).frontier().keySet());
            mentioned.addAll(result.operations().get(i).entries().keySet());
            for (String each : mentioned) {
                assertThat(owner.computeIfAbsent(each, _ -> copy))
                        .as("%s of %s with depth %d", each, scenario.id(), depth)
                        .isEqualTo(copy);
            }
        }
    }

    @Test
    void aRunIsTheSameEveryTime() {
        LabOptions options = LabOptions.DEFAULTS.withScale(new Scale(3, 4, 2));
        assertThat(Laboratory.run(Laboratory.scenario("fork-join"), options).toJson())
                .isEqualTo(Laboratory.run(Laboratory.scenario("fork-join"), options)
                        .toJson());
    }
}
