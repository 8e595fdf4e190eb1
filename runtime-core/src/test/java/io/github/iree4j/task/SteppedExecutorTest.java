package io.github.iree4j.task;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The scans of workers, their order, and the woken workers; the test controls every step. */
class SteppedExecutorTest {
    private SteppedExecutor stepped = ProcessExecutor.builder(4).buildStepped();
    private final List<String> log = new ArrayList<>();

    @AfterEach
    void close() {
        stepped.close();
    }

    private void rebuild(ProcessExecutor.Builder builder) {
        stepped.close();
        stepped = builder.buildStepped();
    }

    private TestProcess logging(ProcessOptions options, DrainResult... results) {
        AtomicInteger next = new AtomicInteger();
        return new TestProcess(options, worker -> {
            log.add(options.name());
            return results[Math.min(next.getAndIncrement(), results.length - 1)];
        });
    }

    private TestProcess compute(String name, int budget, DrainResult... results) {
        return logging(ProcessOptions.named(name).wanting(budget).placed(Placement.COMPUTE), results);
    }

    private void allAsleep() {
        stepped.runUntilAsleep();
        for (int i = 0; i < stepped.executor().workers(); i++) {
            assertThat(stepped.isAsleep(i)).isTrue();
        }
    }

    private int awake() {
        return stepped.executor().workers() - stepped.executor().sleepingWorkers();
    }

    @Test
    void asManyWorkersAsWereAwakeAreKnownOnceAllSleep() {
        allAsleep();
        stepped.executor().takeMostAwake();
        assertThat(stepped.executor().takeMostAwake()).isZero();
        stepped.executor().submit(compute("a", 2, DrainResult.IDLE, DrainResult.COMPLETED));
        int most = awake();
        allAsleep();
        assertThat(stepped.executor().takeMostAwake()).isEqualTo(most).isPositive();
        assertThat(stepped.executor().takeMostAwake()).isZero();
    }

    @Test
    void listIsServedInTheOrderOfScheduling() {
        for (String name : List.of("a", "b", "c")) {
            stepped.executor().submit(logging(ProcessOptions.named(name), DrainResult.COMPLETED));
        }
        stepped.runUntilAsleep();
        assertThat(log).containsExactly("a", "b", "c");
    }

    @Test
    void processesOnTheListTakeTurns() {
        stepped.executor()
                .submit(logging(
                        ProcessOptions.named("a"), DrainResult.WORKED, DrainResult.WORKED, DrainResult.COMPLETED));
        stepped.executor().submit(logging(ProcessOptions.named("b"), DrainResult.WORKED, DrainResult.COMPLETED));
        stepped.runUntilAsleep();
        assertThat(log).containsExactly("a", "b", "a", "b", "a");
    }

    @Test
    void listComesBeforeSlots() {
        stepped.executor().submit(compute("compute", 2, DrainResult.COMPLETED));
        stepped.executor().submit(logging(ProcessOptions.named("immediate"), DrainResult.COMPLETED));
        stepped.step(0);
        assertThat(log).containsExactly("immediate", "compute");
    }

    @Test
    void floodOnTheListDoesNotStarveSlots() {
        stepped.executor().submit(compute("compute", 1, DrainResult.COMPLETED));
        for (int i = 0; i < 100; i++) {
            stepped.executor().submit(logging(ProcessOptions.named("immediate"), DrainResult.COMPLETED));
        }
        stepped.step(0);
        assertThat(log).hasSize(Tuning.LIST_BURST + 1).endsWith("compute");
    }

    @Test
    void budgetDecidesWhereAProcessIsPlaced() {
        TestProcess one = logging(ProcessOptions.named("one"), DrainResult.IDLE);
        TestProcess two = logging(ProcessOptions.named("two").wanting(2), DrainResult.WORKED, DrainResult.COMPLETED);
        stepped.executor().submit(one);
        stepped.executor().submit(two);
        assertThat(ProcessSchedule.place(one.wordVolatile())).isEqualTo(ProcessSchedule.QUEUED);
        assertThat(ProcessSchedule.place(two.wordVolatile())).isEqualTo(ProcessSchedule.SLOTTED);
        one.changeWakeBudget(3);
        stepped.runUntilAsleep();
        one.schedule();
        assertThat(ProcessSchedule.place(one.wordVolatile())).isEqualTo(ProcessSchedule.SLOTTED);
    }

    @Test
    void processWantingMoreWorkersMovesToASlot() {
        TestProcess grows = new TestProcess(ProcessOptions.named("grows"), worker -> DrainResult.WORKED);
        stepped.executor().submit(grows);
        grows.changeWakeBudget(3);
        stepped.step(0);
        assertThat(ProcessSchedule.place(grows.wordVolatile())).isEqualTo(ProcessSchedule.SLOTTED);
        grows.cancel();
    }

    @Test
    void sleeperLeavesItsSlotAndIsNotDrainedUntilScheduled() {
        TestProcess process = compute("p", 4, DrainResult.IDLE);
        stepped.executor().submit(process);
        allAsleep();
        assertThat(process.drains).hasValue(1);
        assertThat(stepped.executor().slots().takenVolatile()).isZero();
        assertThat(stepped.executor().aggregateBudget()).isZero();
        process.schedule();
        allAsleep();
        assertThat(process.drains).hasValue(2);
    }

    @Test
    void warmWorkerDoesNotDrainAgainWithoutNewWork() {
        TestProcess process = compute("p", 1, DrainResult.KEEP_WARM, DrainResult.KEEP_WARM, DrainResult.COMPLETED);
        stepped.executor().submit(process);
        allAsleep();
        assertThat(process.drains).hasValue(1);
        process.schedule();
        allAsleep();
        assertThat(process.drains).hasValue(2);
        process.schedule();
        allAsleep();
        assertThat(process.releases).hasValue(1);
    }

    @Test
    void theLastWorkerOfTheWorkHasWorked() {
        stepped.executor().submit(compute("last", 1, DrainResult.DONE, DrainResult.IDLE));
        assertThat(stepped.step(firstAwake())).isTrue();
        allAsleep();
        assertThat(log).hasSize(1);
    }

    /** TASK-18: each makes the other runnable, in turn. */
    @Test
    void processesWakingEachOtherStayOnTheirWorker() {
        TestProcess[] both = new TestProcess[2];
        AtomicInteger turns = new AtomicInteger();
        both[0] = TestProcess.of("listed", _ -> goesOn(turns, both[1]));
        both[1] =
                new TestProcess(ProcessOptions.named("slotted").placed(Placement.COMPUTE), _ -> goesOn(turns, both[0]));
        stepped.executor().adopt(both[0]);
        stepped.executor().adopt(both[1]);
        allAsleep();
        both[0].schedule();
        assertThat(awake()).isEqualTo(1);
        for (int worker = 0; worker < stepped.executor().workers(); worker++) {
            while (stepped.step(worker)) {
                assertThat(awake()).as("after turn %d", turns.get()).isEqualTo(1);
            }
        }
        assertThat(turns).hasValue(20);
    }

    private static DrainResult goesOn(AtomicInteger turns, TestProcess other) {
        if (turns.incrementAndGet() < 20) {
            other.schedule();
        }
        return DrainResult.IDLE;
    }

    /** TASK-18: the worker begins with a process already on the list. */
    @Test
    void anotherWorkerIsWokenForAProcessBehindAnEarlierProcess() {
        TestProcess second = logging(ProcessOptions.named("second").suspended(1), DrainResult.COMPLETED);
        TestProcess first = TestProcess.of("first", _ -> {
            second.wake();
            return DrainResult.COMPLETED;
        });
        allAsleep();
        stepped.executor().submit(second);
        stepped.executor().submit(first);
        int[] awakeThen = new int[1];
        stepped.executor().submit(TestProcess.of("before", _ -> {
            awakeThen[0] = awake();
            return DrainResult.COMPLETED;
        }));
        int woken = awake();
        stepped.step(firstAwake());
        assertThat(awakeThen[0]).as("while another process is drained").isEqualTo(woken + 1);
    }

    private int firstAwake() {
        for (int i = 0; ; i++) {
            if (!stepped.isAsleep(i)) {
                return i;
            }
        }
    }

    /** TASK-7: scheduled by its own drain, which then finds nothing. */
    @Test
    void scheduleDuringADrainLeadsToAnother() {
        for (Placement placement : List.of(Placement.IMMEDIATE, Placement.COMPUTE)) {
            AtomicInteger drains = new AtomicInteger();
            TestProcess[] self = new TestProcess[1];
            self[0] = new TestProcess(ProcessOptions.named("self").placed(placement), worker -> {
                if (drains.incrementAndGet() == 1) {
                    self[0].schedule();
                }
                return DrainResult.IDLE;
            });
            stepped.executor().submit(self[0]);
            stepped.runUntilAsleep();
            assertThat(drains).as("%s", placement).hasValue(2);
        }
    }

    @Test
    void schedulingManyTimesBeforeADrainLeadsToASingleDrain() {
        TestProcess process = logging(ProcessOptions.named("p"), DrainResult.IDLE);
        stepped.executor().submit(process);
        process.schedule();
        process.schedule();
        stepped.runUntilAsleep();
        assertThat(process.drains).hasValue(1);
    }

    @Test
    void roundRobinVisitsAllSlotsInTurn() {
        for (String name : List.of("a", "b", "c")) {
            stepped.executor().submit(compute(name, 1, DrainResult.WORKED));
        }
        for (int i = 0; i < 9; i++) {
            stepped.step(0);
        }
        assertThat(log).containsExactly("a", "b", "c", "a", "b", "c", "a", "b", "c");
    }

    @Test
    void workersBeginAtDifferentSlots() {
        for (String name : List.of("a", "b", "c", "d")) {
            stepped.executor().submit(compute(name, 1, DrainResult.WORKED));
        }
        for (int i = 0; i < 4; i++) {
            stepped.step(i);
        }
        assertThat(log).containsExactly("a", "b", "c", "d");
    }

    @Test
    void aggregateBudgetIsTheSumOverSlotsAndFollowsChanges() {
        TestProcess a = compute("a", 5, DrainResult.COMPLETED);
        TestProcess b = compute("b", 7, DrainResult.COMPLETED);
        stepped.executor().submit(a);
        stepped.executor().submit(b);
        assertThat(stepped.executor().aggregateBudget()).isEqualTo(12);
        b.changeWakeBudget(1);
        assertThat(stepped.executor().aggregateBudget()).isEqualTo(6);
        stepped.runUntilAsleep();
        assertThat(stepped.executor().aggregateBudget()).isZero();
    }

    /** TASK-11: as many as are wanted; the thread that made the work wakes two, and these wake the others. */
    @Test
    void wakingSpreadsAsATree() {
        rebuild(ProcessExecutor.builder(16));
        allAsleep();
        stepped.executor().submit(compute("wide", 11, DrainResult.WORKED));
        assertThat(awake()).isEqualTo(2);
        stepped.step(0);
        stepped.step(1);
        assertThat(awake()).isEqualTo(6);
        for (int i = 2; i < 6; i++) {
            stepped.step(i);
        }
        assertThat(awake()).isEqualTo(11);
        for (int i = 0; i < 16; i++) {
            stepped.step(i);
        }
        assertThat(awake()).as("no more than were wanted").isEqualTo(11);
    }

    @Test
    void fanOutIsAnOption() {
        rebuild(ProcessExecutor.builder(16).wakeFanOut(5));
        allAsleep();
        stepped.executor().submit(compute("wide", 16, DrainResult.WORKED));
        assertThat(awake()).isEqualTo(5);
        stepped.step(0);
        assertThat(awake()).isEqualTo(10);
    }

    @Test
    void raisingTheBudgetWakesTheDifference() {
        allAsleep();
        TestProcess process = compute("p", 1, DrainResult.WORKED);
        stepped.executor().submit(process);
        assertThat(awake()).isEqualTo(1);
        process.changeWakeBudget(3);
        assertThat(awake()).isEqualTo(3);
        process.changeWakeBudget(1);
        process.changeWakeBudget(1);
        assertThat(awake()).isEqualTo(3);
    }

    @Test
    void workOnTheListWakesASingleWorker() {
        allAsleep();
        stepped.executor().submit(logging(ProcessOptions.named("p"), DrainResult.COMPLETED));
        assertThat(awake()).isEqualTo(1);
    }

    @Test
    void workerMakingWorkCountsItselfAsWoken() {
        allAsleep();
        TestProcess second = logging(ProcessOptions.named("second"), DrainResult.COMPLETED);
        TestProcess third = compute("third", 3, DrainResult.COMPLETED);
        TestProcess first = logging(ProcessOptions.named("first"), DrainResult.COMPLETED);
        first.whenCompleted = () -> stepped.executor().submit(second);
        second.whenCompleted = () -> stepped.executor().submit(third);
        stepped.executor().submit(first);
        stepped.step(0);
        assertThat(log).containsExactly("first", "second", "third");
        assertThat(awake()).as("itself and two others for the third process").isEqualTo(3);
    }

    @Test
    void workerMakingWorkAndKeepingItsProcessWakesAnother() {
        allAsleep();
        TestProcess made = logging(ProcessOptions.named("made"), DrainResult.COMPLETED);
        TestProcess busy = compute("busy", 1, DrainResult.WORKED, DrainResult.COMPLETED);
        TestProcess maker = new TestProcess(ProcessOptions.named("maker").placed(Placement.COMPUTE), worker -> {
            stepped.executor().submit(made);
            return DrainResult.WORKED;
        });
        stepped.executor().submit(maker);
        stepped.step(0);
        assertThat(awake()).isEqualTo(2);
        maker.cancel();
        assertThat(busy.drains).hasValue(0);
    }

    /** TASK-10, TASK-13: a single slot, several processes. */
    @Test
    void overflowIsPlacedInOrderAsSlotsBecomeFree() {
        rebuild(ProcessExecutor.builder(1).computeSlots(1));
        for (String name : List.of("a", "b", "c")) {
            stepped.executor().submit(compute(name, 1, DrainResult.COMPLETED));
        }
        stepped.runUntilAsleep();
        assertThat(log).containsExactly("a", "b", "c");
    }

    @Test
    void closingCancelsWithoutDraining() {
        TestProcess sleeper = compute("sleeper", 2, DrainResult.IDLE);
        stepped.executor().submit(sleeper);
        allAsleep();
        TestProcess waiting = logging(ProcessOptions.named("waiting"), DrainResult.WORKED);
        stepped.executor().submit(waiting);
        stepped.close();
        assertThat(log).containsExactly("sleeper");
        for (TestProcess process : List.of(sleeper, waiting)) {
            assertThat(process.state()).isEqualTo(ProcessState.CANCELLED);
            assertThat(process.releases).hasValue(1);
        }
        assertThat(stepped.executor().liveProcesses()).isZero();
    }

    @Test
    void submissionsAfterClosingAreCancelledAtOnce() {
        stepped.close();
        TestProcess late = compute("late", 2, DrainResult.WORKED);
        TestProcess lateSuspended =
                new TestProcess(ProcessOptions.named("suspended").suspended(1), worker -> DrainResult.COMPLETED);
        stepped.executor().submit(late);
        stepped.executor().submit(lateSuspended);
        assertThat(late.state()).isEqualTo(ProcessState.CANCELLED);
        assertThat(late.releases).hasValue(1);
        assertThat(lateSuspended.releases).hasValue(1);
        assertThat(log).isEmpty();
    }

    @Test
    void callerHelpsToDrainASlottedProcess() {
        AtomicInteger tiles = new AtomicInteger(5);
        List<Integer> drainers = new ArrayList<>();
        TestProcess process = new TestProcess(ProcessOptions.named("shared").wanting(4), worker -> {
            drainers.add(worker.index());
            return tiles.getAndDecrement() > 0 ? DrainResult.WORKED : DrainResult.COMPLETED;
        });
        stepped.executor().submit(process);
        stepped.step(0);
        while (stepped.executor().tryDrainOnce(process)) {
            continue;
        }
        int caller = stepped.executor().workers();
        assertThat(drainers).containsExactly(0, caller, caller, caller, caller, caller);
        assertThat(process.releases).hasValue(1);
        stepped.runUntilAsleep();
        assertThat(process.completions).hasValue(1);
    }

    @Test
    void callerLeavesAListedProcessToWorkers() {
        TestProcess process = logging(ProcessOptions.named("p"), DrainResult.COMPLETED);
        stepped.executor().submit(process);
        assertThat(stepped.executor().tryDrainOnce(process)).isFalse();
        assertThat(log).isEmpty();
        stepped.runUntilAsleep();
        assertThat(process.releases).hasValue(1);
    }

    @Test
    void callerDoesNotDrainBeyondTheLimit() {
        rebuild(ProcessExecutor.builder(1).callers(0));
        TestProcess process = compute("p", 1, DrainResult.COMPLETED);
        stepped.executor().submit(process);
        assertThat(stepped.executor().tryDrainOnce(process)).isFalse();
        assertThat(log).isEmpty();
        stepped.runUntilAsleep();
        assertThat(process.releases).hasValue(1);
    }

    /** TASK-14: work left to a spinning worker. */
    @Test
    void moreWorkThanASpinningWorkerCanTakeWakesAnother() {
        allAsleep();
        Worker spinning = stepped.executor().worker(0);
        stepped.executor().wakes().idle().remove(0);
        stepped.executor().wakes().spinners().getAndAddVolatile(1);
        stepped.executor().submit(logging(ProcessOptions.named("a"), DrainResult.COMPLETED));
        assertThat(awake()).as("left to the spinning worker").isEqualTo(1);
        stepped.executor().submit(logging(ProcessOptions.named("b"), DrainResult.COMPLETED));
        assertThat(awake()).isEqualTo(1);
        stepped.executor().wakes().spinners().getAndAddVolatile(-1);
        spinning.spun = true;
        stepped.step(0);
        assertThat(awake()).isEqualTo(2);
    }

    @Test
    void aProcessLeftToASpinningWorkerWakesNoOther() {
        allAsleep();
        stepped.executor().wakes().idle().remove(0);
        stepped.executor().submit(logging(ProcessOptions.named("a"), DrainResult.COMPLETED));
        int awake = awake();
        stepped.executor().worker(0).spun = true;
        stepped.step(0);
        assertThat(awake()).isEqualTo(awake);
    }

    @Test
    void drainRaisingItsOwnBudgetWakesTheDifference() {
        allAsleep();
        TestProcess[] self = new TestProcess[1];
        self[0] = new TestProcess(ProcessOptions.named("grows").placed(Placement.COMPUTE), worker -> {
            self[0].changeWakeBudget(3);
            return DrainResult.WORKED;
        });
        stepped.executor().submit(self[0]);
        stepped.step(0);
        assertThat(awake()).isEqualTo(3);
        self[0].cancel();
    }

    @Test
    void drainSchedulingItsOwnProcessCountsItselfAsWoken() {
        allAsleep();
        TestProcess[] self = new TestProcess[1];
        self[0] = new TestProcess(ProcessOptions.named("again").wanting(2).placed(Placement.COMPUTE), worker -> {
            self[0].schedule();
            return DrainResult.WORKED;
        });
        stepped.executor().submit(self[0]);
        while (awake() > 1) {
            stepped.executor().wakes().idle().add(awake() - 1);
        }
        stepped.step(0);
        assertThat(awake()).isEqualTo(2);
        self[0].cancel();
    }
}
