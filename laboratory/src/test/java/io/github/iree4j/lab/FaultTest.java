package io.github.iree4j.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.Effort;
import io.github.iree4j.lab.LabResult.OperationRun;
import io.github.iree4j.lab.Scenario.Operation;
import io.github.iree4j.lab.Scenario.Placement;
import io.github.iree4j.status.IreeException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Claims about faults: the objects of a fault fail, their dependents fail, and nothing else; nothing hangs. */
class FaultTest {
    /** The kinds of fault of hardware. */
    private static final List<Fault.Kind> KINDS = Arrays.stream(Fault.Kind.values())
            .filter(each -> each != Fault.Kind.REJECT)
            .toList();

    private static LabResult run(String scenario, String... faults) {
        return Laboratory.run(
                Laboratory.scenario(scenario),
                LabOptions.DEFAULTS.withFaults(
                        Arrays.stream(faults).map(Fault::parse).toList()));
    }

    private static Set<String> failed(LabResult result) {
        return result.operations().stream()
                .filter(each -> each.failure() != null)
                .map(each -> each.operation().id())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void aFailureReachesItsDependentsAlone() {
        LabResult result = run("multi-modal", "fail:vit");
        assertThat(failed(result)).containsExactlyInAnyOrder("vit", "download", "cross_attn", "generate");
        assertThat(result.operations().getLast().failure()).contains("operation 'vit' failed on purpose");
        assertThat(result.violations()).isEmpty();
        assertThat(result.collateral()).isEmpty();
    }

    @Test
    void aLostDeviceTakesItsWorkAndItsDependents() {
        LabResult result = run("voice-chat", "lose:pcie@2");
        assertThat(failed(result)).containsExactlyInAnyOrder("dma", "prefill", "decode");
        assertThat(result.operations().get(2).failure()).contains("hardware 'pcie' was lost at tick 2");
        assertThat(result.violations()).isEmpty();
    }

    @Test
    void aLossAfterTheEndChangesNothing() {
        assertThat(run("voice-chat", "lose:apu@5").isRetired()).isTrue();
    }

    private static final Scenario TWO_MACHINES = Laboratory.scenario("cross-node-pipeline");

    private static LabResult runOnTwo(String fault) {
        return Laboratory.run(TWO_MACHINES, LabOptions.DEFAULTS.withFaults(List.of(Fault.parse(fault))));
    }

    @Test
    void aKilledMachineTakesAllItsHardwareAtOnce() {
        LabResult result = runOnTwo("kill:second@7");
        assertThat(failed(result)).containsExactlyInAnyOrder("a_back", "a_page_out", "b_back", "a_page_in", "a_next");
        assertThat(result.operations().get(4).failure()).contains("machine 'second' was killed at tick 7");
        assertThat(result.operations().stream()
                        .filter(OperationRun::isHit)
                        .map(each -> each.operation().id()))
                .as("all unfinished work there")
                .containsExactly("a_back", "a_page_out", "b_back", "a_page_in", "a_next");
        assertThat(result.violations()).isEmpty();
        assertThat(failed(runOnTwo("lose:node1@7")))
                .as("a lost device leaves the paging of its machine, which fails since it follows")
                .isEqualTo(failed(result));
    }

    @Test
    void hardwareAndOperationsStandForTheirMachine() {
        Set<String> killed = failed(runOnTwo("kill:second@7"));
        assertThat(failed(runOnTwo("kill:nvme@7"))).isEqualTo(killed);
        assertThat(failed(runOnTwo("kill:a_page_in@7"))).isEqualTo(killed);
        assertThat(failed(runOnTwo("lose:second@7"))).isEqualTo(killed);
        assertThat(failed(runOnTwo("kill:nic@0"))).as("with the first machine").hasSize(9);
    }

    @Test
    void hardwareWithoutAMachineIsOnASingleMachineTogether() {
        assertThat(failed(run("voice-chat", "kill:apu@0")))
                .hasSameSizeAs(Laboratory.scenario("voice-chat").operations());
        assertThat(run("voice-chat", "kill:apu@0").operations().getFirst().failure())
                .contains("the machine was killed at tick 0");
    }

    @Test
    void slowFailingAndExhaustedMachinesAreAllTheirHardware() {
        assertThat(runOnTwo("slow:second*2").isRetired()).isTrue();
        assertThat(runOnTwo("slow:second*2").finalTick())
                .isGreaterThan(runOnTwo("slow:node1*2").finalTick());
        assertThat(failed(runOnTwo("fail:node0@3")))
                .hasSize(5)
                .contains("b_front")
                .doesNotContain("a_send");
        assertThat(failed(runOnTwo("fail:first@3"))).hasSize(8).contains("b_front", "a_send");
        assertThat(runOnTwo("exhaust:second").operations().get(4).failure()).contains("RESOURCE_EXHAUSTED");
    }

    @Test
    void slowHardwareDelaysAndFailsNothing() {
        LabResult result = run("voice-chat", "slow:apu*10@1");
        assertThat(result.isRetired()).isTrue();
        assertThat(result.finalTick()).isEqualTo(11 + 9 * 3);
    }

    @Test
    void hardwareWithoutMemoryFailsTheNextStart() {
        LabResult result = run("independent", "exhaust:gpu@3");
        assertThat(failed(result)).containsExactlyInAnyOrder("b1", "b2");
        assertThat(result.operations().get(2).failure()).contains("RESOURCE_EXHAUSTED");
        assertThat(result.violations()).isEmpty();
    }

    @Test
    void aFailureOfHardwareHitsTheWorkRunningThen() {
        assertThat(failed(run("independent", "fail:gpu@4"))).containsExactlyInAnyOrder("b1", "b2");
        assertThat(failed(run("independent", "fail:gpu@100"))).isEmpty();
    }

    @Test
    void aTimelineFailingBeforeAValueTakesItsWaiters() {
        Scenario scenario = Laboratory.read("""
                id: x
                hardware: [cpu, gpu, npu]
                semaphores: [s]
                operations:
                  - {id: slow, hw: cpu, duration: 5, signal: {s: 1}}
                  - {id: refused, hw: gpu, submitted: 2, wait: {s: 1}, signal: {s: 2}}
                  - {id: victim, hw: npu, wait: {s: 1}}
                """);
        LabResult result = Laboratory.run(scenario, LabOptions.DEFAULTS.withFaults(List.of(Fault.parse("lose:gpu@1"))));
        assertThat(failed(result)).containsExactlyInAnyOrder("refused", "victim");
        assertThat(result.collateral()).containsExactly("victim");
        assertThat(result.violations()).isEmpty();
    }

    @Test
    void faultsNameWhateverAnIdMayBe() {
        Scenario odd = Laboratory.read("""
                id: odd
                hardware: [{id: "gpu@1"}, {id: "a,b", machine: "m@1,2"}, {id: "npu*3"}]
                operations:
                  - {id: "op,1@5", hw: "gpu@1", duration: 2}
                  - {id: "b", hw: "a,b", duration: 2}
                  - {id: "c", hw: "npu*3", duration: 2}
                """);
        List<String> each = List.of(
                "lose:gpu@1@0", "kill:m@1,2@1", "lose:a,b@1", "fail:npu*3@0", "fail:op,1@5@0", "slow:npu*3*3@0");
        List<Set<String>> failed =
                List.of(Set.of("op,1@5"), Set.of("b"), Set.of("b"), Set.of("c"), Set.of("op,1@5"), Set.of());
        for (int i = 0; i < each.size(); i++) {
            Fault fault = Fault.parse(each.get(i));
            LabResult result = Laboratory.run(odd, LabOptions.DEFAULTS.withFaults(List.of(fault)));
            assertThat(failed(result)).as(each.get(i)).isEqualTo(failed.get(i));
            assertThat(fault).hasToString(each.get(i));
        }
        assertThat(Fault.parseList(String.join(",", each), 8)).hasToString(each.toString());
    }

    @Test
    void invalidFaultsAreRefused() {
        assertThatThrownBy(() -> Fault.parse("explode:gpu")).hasMessageContaining("'explode' is no kind of fault");
        assertThatThrownBy(() -> Fault.parse("lose")).hasMessageContaining("is not of the form");
        assertThatThrownBy(() -> Fault.parse("slow:gpu*1")).hasMessageContaining("factor of a fault is 1");
        assertThatThrownBy(() -> run("independent", "lose:tpu"))
                .hasMessageContaining("neither hardware, a machine nor an operation");
        assertThatThrownBy(() -> run("spec-decode", "reject:main"))
                .hasMessageContaining("'main', which is no operation");
        assertThatThrownBy(() -> run("spec-decode", "reject:prefill"))
                .hasMessageContaining("operation 'prefill', which waits for no operation of another queue");
    }

    @Test
    void anyFaultsInAnyScenarioFailExactlyTheirDependents() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        List<Scenario> scenarios = Laboratory.scenarios();
        int failures = 0;
        for (int i = 0; i < Integer.getInteger("iree4j.lab.fault-runs", 200); i++) {
            Scenario scenario = scenarios.get(random.nextInt(scenarios.size()));
            Placement placement = random.nextBoolean() ? Placement.LANES : Placement.QUEUES;
            WaitKnowledge knowledge = WaitKnowledge.values()[random.nextInt(3)];
            Scale scale = new Scale(
                    1 + random.nextInt(3),
                    scenario.canRepeat() ? 1 + random.nextInt(3) : 1,
                    scenario.isScalable() ? random.nextInt(5) : 0);
            List<Fault> faults = new ArrayList<>();
            for (int j = random.nextInt(3); j >= 0; j--) {
                Fault.Kind kind = KINDS.get(random.nextInt(KINDS.size()));
                List<Operation> operations = scenario.operations();
                String target = random.nextBoolean()
                        ? operations.get(random.nextInt(operations.size())).id()
                        : scenario.hardware()
                                .get(random.nextInt(scenario.hardware().size()))
                                .id();
                faults.add(new Fault(kind, target, random.nextInt(20), kind == Fault.Kind.SLOW ? 3 : 1));
            }
            LabResult result = Laboratory.run(
                    scenario.withPlacement(placement), new LabOptions(scale, faults, random.nextInt(3), knowledge));
            String what = "seed %d run %d: %s %s %s %s %s"
                    .formatted(seed, i, scenario.id(), placement, knowledge, scale, faults);
            assertThat(result.violations()).as(what).isEmpty();
            assertThat(result.operations()).as(what).allMatch(each -> each.end() >= 0);
            assertThat(result.operations().stream()
                            .filter(each -> each.start() >= 0)
                            .filter(each -> each.failure() == null))
                    .as(what)
                    .allMatch(FaultTest::knowsItself);
            failures += result.isRetired() ? 0 : 1;
        }
        assertThat(failures).as("runs with a failure").isGreaterThan(50);
    }

    /**
     * Each kind of fault, of all hardware and machines, at each tick of each scenario; an eighth of the runs in a
     * build.
     */
    @Test
    void aFaultAtAnyTimeFailsItsObjectsAndTheirDependentsByWaitsAlone() {
        int every = Effort.isBrief() ? 8 : 1;
        int number = new Random(Effort.seed(System.nanoTime())).nextInt(every);
        for (Scenario each : Laboratory.scenarios()) {
            for (Placement placement : Placement.values()) {
                Scenario scenario = each.withPlacement(placement);
                Set<String> targets = new TreeSet<>();
                scenario.hardware().forEach(hardware -> {
                    targets.add(hardware.id());
                    targets.add(hardware.machine().isEmpty() ? hardware.id() : hardware.machine());
                });
                long last = Laboratory.run(scenario, LabOptions.DEFAULTS).finalTick();
                for (String target : targets) {
                    for (Fault.Kind kind : KINDS) {
                        for (long tick = 0; tick <= last + 1; tick++) {
                            if (number++ % every == 0) {
                                checkFault(
                                        scenario,
                                        new Fault(kind, target, tick, kind == Fault.Kind.SLOW ? 3 : 1),
                                        number % 3);
                            }
                        }
                    }
                }
            }
        }
    }

    /** Each operation behind an operation of another queue finds the other wrong, in each scenario. */
    @Test
    void aRejectedDraftCancelsItsDependentsByWaitsAlone() {
        int cancelled = 0;
        for (Scenario each : Laboratory.scenarios()) {
            for (Placement placement : Placement.values()) {
                Scenario scenario = each.withPlacement(placement);
                for (Operation operation : scenario.operations()) {
                    Fault fault = new Fault(Fault.Kind.REJECT, operation.id(), 0, 1);
                    for (long hostDelay = 0; hostDelay < 3; hostDelay++) {
                        try {
                            checkFault(scenario, fault, hostDelay);
                        } catch (IreeException e) {
                            assertThat(e).hasMessageContaining("there is no draft");
                            continue;
                        }
                        cancelled += checkCancelled(scenario, fault, hostDelay);
                    }
                }
            }
        }
        assertThat(cancelled).as("operations cancelled in all").isGreaterThan(200);
    }

    private static int checkCancelled(Scenario scenario, Fault fault, long hostDelay) {
        LabOptions options = LabOptions.DEFAULTS.withHostDelay(hostDelay);
        LabResult accepted = Laboratory.run(scenario, options);
        LabResult result = Laboratory.run(scenario, options.withFaults(List.of(fault)));
        String what = "%s %s %s, host %d".formatted(scenario.id(), scenario.placement(), fault, hostDelay);
        OperationRun verification = run(result, fault.target());
        assertThat(verification.failure()).as(what).isNull();
        List<OperationRun> hit =
                result.operations().stream().filter(OperationRun::isHit).toList();
        assertThat(hit).as(what).allSatisfy(each -> {
            assertThat(each.failure()).contains("CANCELLED", "speculation was rejected");
            assertThat(run(accepted, each.operation().id()).end() + hostDelay)
                    .as("the host did not know of the end")
                    .isGreaterThanOrEqualTo(verification.end() + hostDelay);
        });
        return hit.size();
    }

    private static OperationRun run(LabResult result, String id) {
        return result.operations().stream()
                .filter(each -> each.operation().id().equals(id))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void aFailingVerificationRejectsNothing() throws IOException {
        LabResult result = Laboratory.run(draftsAhead(), faults("fail:verify_1", "reject:verify_1"));
        assertThat(run(result, "verify_1").failure()).isNotNull();
        assertThat(result.rejections()).isEmpty();
    }

    @Test
    void aDraftNeverReachingItsLostDeviceIsComparedWithoutARejection() throws IOException {
        LabOptions options = faults("reject:verify_3", "lose:draft@5");
        assertThat(Laboratory.run(draftsAhead(), options).rejections()).isEmpty();
        assertThat(Comparison.of(draftsAhead(), options)
                        .way(WaitKnowledge.FRONTIERS)
                        .cancelled())
                .isZero();
    }

    private static Scenario draftsAhead() throws IOException {
        return Laboratory.read(Files.readString(Path.of("..", "docs", "draft-ahead.yaml")));
    }

    private static LabOptions faults(String... faults) {
        return LabOptions.DEFAULTS.withFaults(
                Arrays.stream(faults).map(Fault::parse).toList());
    }

    @Test
    void theNextRoundOfARejectedDraftNeverBegins() {
        String rounds = """
                id: rounds
                hardware: [draft, verify, speech]
                semaphores: [d, v, s, o]
                operations:
                  - {id: d1, hw: draft, duration: 1, signal: {d: 1}}
                  - {id: v1, hw: verify, duration: 2, wait: {d: 1}, signal: {v: 1}}
                  - {id: s1, hw: speech, duration: 4, wait: {d: 1}, signal: {s: 1}}
                  - {id: other, hw: speech, duration: 1, signal: {o: 1}}
                  - {id: d2, hw: draft, duration: 3, wait: {d: 1}, signal: {d: 2}}
                  - {id: v2, hw: verify, duration: 2, wait: {d: 2, v: 1}, signal: {v: 2}}
                  - {id: d3, hw: draft, duration: 3, wait: {d: 2}, signal: {d: 3}, submitted: 5}
                """;
        LabResult result = Laboratory.run(
                Laboratory.read(rounds).withPlacement(Placement.QUEUES),
                LabOptions.DEFAULTS.withFaults(List.of(Fault.parse("reject:v1"))));
        assertThat(failed(result)).containsExactly("d2", "d3", "s1", "v2");
        assertThat(result.rejections()).containsExactly(new LabResult.Rejected("v1", "d1"));
        assertThat(run(result, "d3").start()).as("submitted later").isNegative();
        assertThat(run(result, "d2").end()).as("with the hardware already").isEqualTo(4);
        assertThat(run(result, "v1").failure()).isNull();
        assertThat(run(result, "other").failure()).isNull();
    }

    @Test
    void aRejectionKnowsTheOperationsSubmittedBefore() {
        LabResult result = Laboratory.run(Laboratory.read("""
                        id: late
                        hardware: [draft, verify]
                        semaphores: [d, v, w]
                        operations:
                          - {id: d1, hw: draft, signal: {d: 1}}
                          - {id: v1, hw: verify, duration: 7, wait: {d: 1}, signal: {v: 1}}
                          - {id: late, hw: verify, wait: {v: 1}, signal: {w: 1}, submitted: 26}
                          - {id: d2, hw: draft, wait: {w: 1}}
                        """), faults("reject:v1"));
        assertThat(result.violations()).isEmpty();
        assertThat(failed(result)).containsExactly("d2");
        assertThat(run(result, "d2").end())
                .as("the verifier of the operation was not submitted")
                .isEqualTo(8);
        assertThat(run(result, "d2").isHit()).isTrue();
        assertThat(run(result, "late").failure()).isNull();
    }

    private static void checkFault(Scenario scenario, Fault fault, long hostDelay) {
        LabResult result = Laboratory.run(
                scenario, LabOptions.DEFAULTS.withFaults(List.of(fault)).withHostDelay(hostDelay));
        String what = "%s %s %s, host %d".formatted(scenario.id(), scenario.placement(), fault, hostDelay);
        assertThat(result.violations()).as(what).isEmpty();
        Set<String> expected = new TreeSet<>();
        for (OperationRun each : result.operations()) {
            assertThat(each.end())
                    .as("%s: end of %s", what, each.operation().id())
                    .isNotNegative();
            if (each.isHit()) {
                expected.add(each.operation().id());
            }
        }
        for (boolean more = true; more; ) {
            more = false;
            for (Operation each : scenario.operations()) {
                more |= each.waits().entrySet().stream()
                                .anyMatch(wait -> scenario.operations().stream()
                                        .filter(other -> expected.contains(other.id()))
                                        .anyMatch(other -> wait.getValue()
                                                .equals(other.signals().get(wait.getKey()))))
                        && expected.add(each.id());
            }
        }
        boolean hasMemory = scenario.operations().stream()
                .anyMatch(each -> !each.allocates().isEmpty());
        Set<String> actual = failed(result);
        assertThat(actual).as(what).containsAll(expected);
        result.collateral().forEach(actual::remove);
        if (!hasMemory) { // elsewhere a failing free takes along the waiters for its memory
            assertThat(expected).as(what).containsAll(actual);
        }
    }

    private static boolean knowsItself(OperationRun run) {
        return run.frontier().entrySet().containsAll(run.operation().signals().entrySet());
    }
}
