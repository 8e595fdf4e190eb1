package io.github.iree4j.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.hal.schedule.WaitDecision;
import io.github.iree4j.lab.Scenario.Placement;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Reading of scenarios, perhaps from untrusted sources. */
class ScenarioTest {
    private static final String HEAD = "id: x\nhardware: [cpu, {id: gpu, lanes: 2}]\nsemaphores: [s, t]\noperations:\n";

    private static String failureOf(String text) {
        try {
            Laboratory.read(text);
        } catch (IreeException e) {
            assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT);
            return e.getMessage();
        }
        throw new AssertionError("accepted: " + text);
    }

    @Test
    void flowBlockAndJsonSayTheSame() {
        Scenario flow = Laboratory.read(HEAD + "  - {id: a, hw: cpu, duration: 3, signal: {s: 1}}\n"
                + "  - {id: b, hw: gpu, duration: 1, wait: {s: 1}, signal: {t: 1}}\n");
        Scenario block = Laboratory.read("""
                ---
                # a comment
                id: "x"
                hardware:
                - cpu
                - id: gpu
                  lanes: 2   # both of them
                semaphores:
                  - s
                  - 't'
                operations:
                  - id: a
                    hw: cpu
                    duration: 3
                    signal:
                      s: 1

                  - id: b
                    hw: gpu
                    duration: 1
                    wait: {
                      s: 1
                    }
                    signal: {t: 1}
                """);
        Scenario json = Laboratory.read("""
                {"id":"x","hardware":["cpu",{"id":"gpu","lanes":2}],"semaphores":["s","t"],"operations":
                [{"id":"a","hw":"cpu","duration":3,"signal":{"s":1}},
                 {"id":"b","hw":"gpu","duration":1,"wait":{"s":1},"signal":{"t":1}}]}""");
        assertThat(block).isEqualTo(flow);
        assertThat(json).isEqualTo(flow);
        assertThat(flow.hardware().getLast().lanes()).isEqualTo(2);
        assertThat(flow.operations().getLast().waits()).isEqualTo(Map.of("s", 1L));
    }

    @Test
    void aTextGoesOnInIndentedLines() {
        Scenario scenario = Laboratory.read("id: x\ndescription: one\n  two\n\n  three\nlabel: 'it''s:\n  quoted'\n"
                + "hardware: [cpu]\nsemaphores: []\noperations: [{id: a, hw: cpu}]\n");
        assertThat(scenario.description()).isEqualTo("one two\nthree");
        assertThat(scenario.label()).isEqualTo("it's: quoted");
    }

    @Test
    void aLabelIsTheIdWhereNoneIsGiven() {
        Scenario scenario = Laboratory.read("""
                id: x
                hardware: [cpu, {id: gpu, label: Graphics}, {id: npu, label: ''}]
                semaphores: [s, {id: t, label: "Speech to text: <b>"}, {id: u}]
                operations:
                  - {id: a, label: Language model 1, hw: cpu, signal: {t: 1}}
                  - {id: b, hw: gpu, wait: {t: 1}}
                """);
        assertThat(scenario.hardware().stream().map(Scenario.Hardware::label))
                .containsExactly("cpu", "Graphics", "npu");
        assertThat(scenario.semaphores().stream().map(Scenario.Semaphore::label))
                .containsExactly("s", "Speech to text: <b>", "u");
        assertThat(scenario.operations().stream().map(Scenario.Operation::label))
                .containsExactly("Language model 1", "b");
    }

    @Test
    void hardwareAndSemaphoresAreCheckedLikeOperations() {
        String operations = "\noperations: [{id: a, hw: cpu}]\n";
        assertThat(failureOf("id: x\nhardware: [{id: cpu, label: \"a\\u0007\"}]" + operations))
                .contains("the label of hardware 'cpu' contains a line break or another control character");
        assertThat(failureOf("id: x\nhardware: [cpu]\nsemaphores: [{id: s, label: [t]}]" + operations))
                .contains("'label' of semaphore 's' is not a text");
        assertThat(failureOf("id: x\nhardware: [cpu]\nsemaphores: [{label: t}]" + operations))
                .contains("a semaphore has no 'id'");
        assertThat(failureOf("id: x\nhardware: [cpu]\nsemaphores: [{id: s, value: 3}]" + operations))
                .contains("a semaphore has no key 'value'; there are id, label");
        assertThat(failureOf("id: x\nhardware: [cpu]\nsemaphores: [s, {id: s}]" + operations))
                .contains("semaphore 's' is defined twice");
        assertThat(failureOf(
                        "id: x\nhardware: [cpu]\nsemaphores: [{id: s, label: " + "x".repeat(129) + "}]" + operations))
                .contains("the label of semaphore 's' has 129 characters, more than 128");
    }

    @Test
    void copiesHaveTheLabelWithTheirNumber() {
        Scenario scenario = Laboratory.read("""
                id: x
                hardware: [cpu]
                semaphores: [{id: s, label: Steps}, {id: t, label: Rest}]
                operations: [{id: a, label: Encoder, hw: cpu, signal: {s: 1, t: 1}}]
                chain_through: [s]
                """);
        Scenario scaled = Laboratory.run(scenario, LabOptions.DEFAULTS.withScale(new Scale(2, 2, 0)))
                .scenario();
        assertThat(scaled.operations().stream().map(Scenario.Operation::label))
                .containsExactly("Encoder", "Encoder/1.2", "Encoder/2", "Encoder/2.2");
        assertThat(scaled.semaphores().stream().map(Scenario.Semaphore::label))
                .containsExactly("Steps", "Rest", "Rest/1.2", "Steps/2", "Rest/2", "Rest/2.2");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '^', textBlock = """
            {id: a, hw: npu}                                        | unknown hardware 'npu'
            {id: a, hw: cpu, wait: {u: 1}}                          | waits for unknown semaphore 'u'
            {id: a, hw: cpu, signal: {u: 1}}                        | signals unknown semaphore 'u'
            {id: a, hw: cpu, wait: {s: 3}}                          | waits for semaphore 's' at 3, which no operation signals
            {id: a, hw: cpu, wait: {s: 1}, signal: {s: 1}}          | 'a' waits for 'a'
            {id: a, hw: cpu, signal: {s: 0}}                        | is 0, which is not within [1,
            {id: a, hw: cpu, signal: {s: -1}}                       | is -1, which is not within [1,
            {id: a, hw: cpu, signal: {s: 99999999999999999}}        | is 99999999999999999, which is not within
            {id: a, hw: cpu, duration: -1}                          | duration of operation 'a' is -1
            {id: a, hw: cpu, duration: 100000000001}                | duration of operation 'a' is 100000000001
            {id: a, hw: cpu, duration: 1.5}                         | '1.5', which is not a whole number
            {id: a, hw: cpu, queue: 1}                              | queue 1 of hardware 'cpu', which has 1 lanes
            {id: a, hw: cpu, colour: red}                           | has no key 'colour'; there are id, label, hw
            {hw: cpu}                                               | has no 'id'
            {id: a}                                                 | has no 'hw'
            {id: 'a b', hw: cpu}                                    | white space
            {id: a, hw: [cpu]}                                      | is not a text
            {id: a, label: [b], hw: cpu}                            | 'label' of operation 'a' is not a text
            {id: a, label: ' ', hw: cpu}                            | label of operation 'a' is blank; leave the label out
            {id: a, label: "b\\nc", hw: cpu}                         | label of operation 'a' contains a line break
            {id: a, label: "b\\u2028c", hw: cpu}                     | label of operation 'a' contains a line break
            {id: a, label: "\\u009b31m", hw: cpu}                    | or another control character
            {id: a, hw: cpu, wait: [s]}                             | is not a mapping
            {id: a, id: b, hw: cpu}                                 | line 5: key 'id' occurs twice
            &a {id: a}                                              | is not supported
            {id: a, hw: cpu                                         | expected ',' or '}'
            """)
    void anImpossibleOperationIsRefusedByName(String operation, String message) {
        assertThat(failureOf(HEAD + "  - " + operation + "\n")).contains(message);
    }

    @Test
    void contradictoryOperationsAreRefused() {
        assertThat(failureOf(HEAD + "  - {id: a, hw: cpu}\n  - {id: a, hw: cpu}\n"))
                .contains("operation 'a' is defined twice");
        assertThat(failureOf(HEAD + "  - {id: a, hw: cpu, signal: {s: 1}}\n  - {id: b, hw: cpu, signal: {s: 1}}\n"))
                .contains("'a' and 'b' both signal semaphore 's' to 1");
        assertThat(failureOf(HEAD + "  - {id: a, hw: cpu, wait: {t: 1}, signal: {s: 1}}\n"
                        + "  - {id: b, hw: cpu, wait: {s: 1}, signal: {t: 1}}\n"))
                .contains("wait for one another", "'a' waits for 'b' waits for 'a'");
        assertThat(failureOf(HEAD + "  - {id: a, hw: cpu, signal: {s: 1}}\n  - {id: b, hw: gpu, signal: {s: 2}}\n"))
                .contains("'b' signals semaphore 's' to 2 but does not follow operation 'a'");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "x",
                "[]",
                "{}",
                "id: x",
                "\t",
                "id: x\n\thardware: 3",
                "id: x\nhardware: 7\n",
                "id: |\n  x\n",
                "a: b: c",
                "- - - - - - - - - - - - - - - - - - - x",
                "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
                "{\"a\": \"\\u12\"}",
                "'",
                "\"",
                "id: x\n  y: z\n",
                "*x",
                "!!java.lang.Runtime x",
                "id: \u0000"
            })
    void textsOfNoScenarioAreRefused(String text) {
        assertThat(failureOf(text)).isNotEmpty();
    }

    @Test
    void anyDamageOfAScenarioIsRefusedOrRunsLikeAScenario() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        String text = HEAD + "  - {id: a, hw: cpu, duration: 3, signal: {s: 1}}\n"
                + "  - id: b\n    hw: gpu\n    wait: {s: 1}\nannotations: [{tick: 1, text: \"x\"}]\n";
        for (int i = 0; i < 3000; i++) {
            StringBuilder damaged = new StringBuilder(text);
            for (int j = random.nextInt(3); j >= 0; j--) {
                int at = random.nextInt(damaged.length());
                switch (random.nextInt(3)) {
                    case 0 -> damaged.deleteCharAt(at);
                    case 1 -> damaged.insert(at, "{}[],:'\"\n -#\\a1".charAt(random.nextInt(15)));
                    default -> damaged.setCharAt(at, (char) random.nextInt(200));
                }
            }
            try {
                assertThat(Laboratory.run(Laboratory.read(damaged.toString()), LabOptions.DEFAULTS)
                                .violations())
                        .as("seed %d", seed)
                        .isEmpty();
            } catch (IreeException e) {
                assertThat(e.code()).as("seed %d: %s", seed, damaged).isEqualTo(StatusCode.INVALID_ARGUMENT);
            }
        }
    }

    @Test
    void sizesAreBounded() {
        StringBuilder many = new StringBuilder("id: x\nhardware: [cpu]\nsemaphores: []\noperations:\n");
        for (int i = 0; i <= Scenario.MAXIMUM_OPERATIONS; i++) {
            many.append("  - {id: o").append(i).append(", hw: cpu}\n");
        }
        assertThat(failureOf(many.toString()))
                .contains("16385 operations are not within [1, 16384]; split the scenario");
        assertThat(failureOf("id: x\nhardware: [{id: cpu, lanes: 65}]\noperations: [{id: a, hw: cpu}]"))
                .contains("lanes of hardware 'cpu' is 65, which is not within [1, 64]");
        assertThat(failureOf("id: " + "x".repeat(200) + "\nhardware: [cpu]\noperations: [{id: a, hw: cpu}]"))
                .contains("has 200 characters");
        assertThat(failureOf("a".repeat((16 << 20) + 1))).contains("16777217 characters, more than 16777216");
    }

    /**
     * Every operation has a separate timeline and follows all earlier operations: frontiers of 2,000 values for 2,000
     * operations.
     */
    @Test
    void theSizeOfAResultIsBounded() {
        StringBuilder many = new StringBuilder("id: x\nhardware: [cpu]\nsemaphores:\n");
        for (int i = 0; i < 2000; i++) {
            many.append("  - s").append(i).append('\n');
        }
        many.append("operations:\n");
        for (int i = 0; i < 2000; i++) {
            many.append("  - {id: o%d, hw: cpu, signal: {s%d: 1}".formatted(i, i))
                    .append(i == 0 ? "}\n" : ", wait: {s%d: 1}}\n".formatted(i - 1));
        }
        LabResult result = Laboratory.run(Laboratory.read(many.toString()), LabOptions.DEFAULTS);
        assertThat(result.operations().get(999).frontier()).hasSize(1000);
        assertThat(result.operations().getLast().frontier()).isNull();
        assertThat(result.operations().getLast().entries()).isEqualTo(Map.of("cpu:1", 2000L));
        assertThat(result.violations()).isEmpty();
        assertThat(result.toJson()).contains("\"frontier\": null");
    }

    @Test
    void unscalableScenariosNameTheMissingPart() {
        assertThatThrownBy(() -> Laboratory.run(
                        Laboratory.scenario("late-waiter"), LabOptions.DEFAULTS.withScale(new Scale(1, 2, 0))))
                .hasMessageContaining("the depth is 1, not 2; name a semaphore in chain_through");
        assertThatThrownBy(() -> Laboratory.run(
                        Laboratory.scenario("pipeline"), LabOptions.DEFAULTS.withScale(new Scale(1, 1, 2))))
                .hasMessageContaining("no scalable hardware");
        assertThatThrownBy(() -> new Scale(5, 1, 0)).hasMessageContaining("width is 5, which is not within [1, 4]");
        assertThatThrownBy(() -> Laboratory.scenario("nothing"))
                .hasMessageContaining("there is no scenario 'nothing'; there are sequential,");
    }

    @Test
    void copiesWithAMergedTimelineAreRefused() {
        Scenario scenario = Laboratory.read(
                "id: x\nplacement: queues\nhardware: [gpu]\nsemaphores: [s, s/2]\noperations:\n"
                        + "  - {id: a, hw: gpu, signal: {s: 1}}\n  - {id: b, hw: gpu, wait: {s: 1}, signal: {s/2: 2}}\n");
        assertThatThrownBy(() -> Laboratory.run(scenario, LabOptions.DEFAULTS.withScale(new Scale(2, 1, 0))))
                .hasMessageContaining("copies of semaphores 's/2' and 's' would both be 's/2'");
    }

    @Test
    void nullIsAsGoodAsNothing() {
        Scenario plain = Laboratory.read(HEAD + "  - {id: a, hw: cpu}\n");
        for (String nothing : List.of("null", "~", "")) {
            Scenario given = Laboratory.read(
                    HEAD.replace("id: x", "id: x\nlabel: " + nothing) + """
                      - id: a
                        hw: cpu
                        duration: NOTHING
                        submitted: NOTHING
                        wait: NOTHING
                        signal: NOTHING
                        alloc: NOTHING
                        free: NOTHING
                    annotations: NOTHING
                    chain_through: NOTHING
                    """.replace("NOTHING", nothing));
            assertThat(given).isEqualTo(plain);
        }
        assertThat(Laboratory.read("{\"id\": \"x\", \"hardware\": [\"a\"], \"semaphores\": null, \"operations\":"
                                + " [{\"id\": \"a\", \"hw\": \"a\", \"wait\": null}]}")
                        .operations())
                .hasSize(1);
        assertThat(Laboratory.read(HEAD + "  - {id: 'null', hw: cpu}\n")
                        .operations()
                        .getFirst()
                        .id())
                .isEqualTo("null");
        assertThat(failureOf(HEAD + "  - {id: a, hw: cpu, signal: {s: null}}\n"))
                .contains("has no value for 's'");
        assertThat(failureOf(HEAD + "  - {id: null, hw: cpu}\n")).contains("id");
    }

    @Test
    void aByteOrderMarkIsNoPartOfAScenario() {
        String text = HEAD + "  - {id: a, hw: cpu}\n";
        assertThat(Laboratory.read("\uFEFF" + text)).isEqualTo(Laboratory.read(text));
    }

    @Test
    void byteOrderMarksBeyondTheFirstAreText() {
        assertThatThrownBy(() -> Laboratory.read("\uFEFF".repeat(200_000)))
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT));
    }

    @Test
    void aDocumentMayBeginBehindComments() {
        String text = HEAD + "  - {id: a, hw: gpu}\n";
        assertThat(Laboratory.read("# whose it is\n\n--- # and what\n" + text)).isEqualTo(Laboratory.read(text));
    }

    @ParameterizedTest
    @ValueSource(strings = {"\\u0085", "\\u009b", "\\u00a0", "\\u2028", "\\u3000"})
    void aNameHasNoSeparatorOfAnyAlphabet(String separator) {
        assertThatThrownBy(() -> Laboratory.read(HEAD + "  - {id: \"a" + separator + "b\", hw: gpu}\n"))
                .hasMessageContaining("white space or a control character");
    }

    @Test
    void aConsumerMayBeDefinedBeforeItsProducer() {
        Scenario scenario = Laboratory.read(
                HEAD + "  - {id: last, hw: cpu, wait: {t: 1}}\n"
                        + "  - {id: middle, hw: gpu, wait: {s: 1}, signal: {t: 1}}\n  - {id: first, hw: cpu, signal: {s: 1}}\n");
        for (Placement placement : Placement.values()) {
            LabResult result = Laboratory.run(scenario.withPlacement(placement), LabOptions.DEFAULTS);
            assertThat(result.violations()).isEmpty();
            assertThat(result.operations().getFirst().start()).isEqualTo(2);
            assertThat(result.operations().getFirst().frontier()).isEqualTo(Map.of("s", 1L, "t", 1L));
            assertThat(result.decisions().deferred()).isEqualTo(2);
        }
    }

    @Test
    void aLanePerQueueRunsInOrder() {
        Scenario scenario = Laboratory.read("placement: queues\n" + HEAD
                + "  - {id: a, hw: gpu, queue: 0, duration: 5}\n  - {id: b, hw: gpu, queue: 0, signal: {s: 1}}\n"
                + "  - {id: c, hw: gpu, queue: 1, wait: {s: 1}}\n  - {id: d, hw: gpu, queue: 1}\n");
        LabResult result = Laboratory.run(scenario, LabOptions.DEFAULTS);
        assertThat(result.operations().stream().map(LabResult.OperationRun::start))
                .containsExactly(0L, 5L, 6L, 7L);
        assertThat(result.operations().get(2).entries()).isEqualTo(Map.of("gpu_0", 2L, "gpu_1", 1L));
        assertThat(result.queues().stream().map(LabResult.QueueUse::operations))
                .containsExactly(List.of(), List.of("a", "b"), List.of("c", "d"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"slow:gpu", "fail:slow"})
    void valuesSignalledOutOfOrderAreAnErrorOfTheScenario(String fault) {
        Scenario scenario = Laboratory.read("""
                id: x
                placement: queues
                hardware: [cpu, gpu, npu]
                semaphores: [s]
                operations:
                  - {id: slow, hw: cpu, duration: 5, signal: {s: 1}}
                  - {id: fast, hw: gpu, signal: {s: 2}}
                  - {id: early, hw: npu, submitted: 3, wait: {s: 1}}
                  - {id: late, hw: npu, submitted: 7, wait: {s: 2}}
                """);
        LabOptions options = LabOptions.DEFAULTS.withFaults(List.of(Fault.parse(fault)));
        assertThatThrownBy(() -> Laboratory.run(scenario, options))
                .isInstanceOfSatisfying(
                        IreeException.class, e -> assertThat(e.code()).isEqualTo(StatusCode.INVALID_ARGUMENT))
                .hasMessageContaining("'fast' signals semaphore 's' to 2 but does not follow operation 'slow'");
    }

    @ParameterizedTest
    @ValueSource(strings = {"slow:gpu", "fail:first", "fail:second"})
    void aQueueKeepsTheOrderOfSignals(String fault) {
        Scenario scenario = Laboratory.read("""
                id: x
                placement: queues
                hardware: [gpu, npu]
                semaphores: [s]
                operations:
                  - {id: first, hw: gpu, duration: 5, signal: {s: 1}}
                  - {id: second, hw: gpu, duration: 0, signal: {s: 2}}
                  - {id: follows, hw: npu, wait: {s: 1}}
                """);
        LabResult result = Laboratory.run(scenario, LabOptions.DEFAULTS.withFaults(List.of(Fault.parse(fault))));
        assertThat(result.violations()).isEmpty();
    }

    @Test
    void aRunHasTheFirstDecisionAboutEachWait() {
        LabResult frontiers =
                Laboratory.run(Laboratory.scenario("transitive").withPlacement(Placement.QUEUES), LabOptions.DEFAULTS);
        assertThat(frontiers.operations().stream().map(LabResult.OperationRun::waits))
                .containsExactly(
                        Map.of(),
                        Map.of("A", WaitDecision.DEVICE_WAIT),
                        Map.of("A", WaitDecision.COVERED, "B", WaitDecision.DEVICE_WAIT),
                        Map.of("A", WaitDecision.ELIDED_FRONTIER, "C", WaitDecision.ELIDED_FIFO));
        LabResult held = Laboratory.run(Laboratory.scenario("submit-before-wait"), LabOptions.DEFAULTS);
        assertThat(held.operations().getFirst().waits())
                .as("not yet submitted, though promised in the end")
                .isEqualTo(Map.of("S", WaitDecision.DEFERRED_UNKNOWN, "T", WaitDecision.DEFERRED_UNKNOWN));
        assertThat(held.toJson()).contains("\"waits\": {\"S\": \"deferred_unknown\", \"T\": \"deferred_unknown\"}");
    }

    @Test
    void aLateOperationDoesNotMentionEndedWork() {
        Scenario scenario = Laboratory.read(HEAD + "  - {id: a, hw: cpu, duration: 2, signal: {s: 1}}\n"
                + "  - {id: b, hw: gpu, duration: 9, wait: {s: 1}, signal: {s: 2}}\n"
                + "  - {id: c, hw: cpu, submitted: 5, wait: {s: 1}, signal: {t: 1}}\n"
                + "  - {id: d, hw: cpu, submitted: 6, wait: {s: 2}}\n");
        LabResult result = Laboratory.run(scenario, LabOptions.DEFAULTS);
        assertThat(result.operations().stream().map(LabResult.OperationRun::start))
                .containsExactly(0L, 2L, 5L, 11L);
        assertThat(result.operations().stream().map(LabResult.OperationRun::issued))
                .containsExactly(0L, 0L, 5L, 6L);
        assertThat(result.operations().get(2).decisions().reached()).isEqualTo(1);
        assertThat(result.operations().get(3).frontier())
                .as("s at 1 is over, but the operation that signals 2 mentions it")
                .isEqualTo(Map.of("s", 2L));
    }
}
