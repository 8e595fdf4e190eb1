package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferView;
import io.github.iree4j.hal.ElementType;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmCall;
import io.github.iree4j.vm.VmList;
import io.github.iree4j.vm.VmModule;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Programs of modules that are written in Java, so that a test decides when a call goes on. */
@Timeout(60)
class ProgramTest {
    private final IreeRuntime runtime = IreeRuntime.create();
    private final CountDownLatch entered = new CountDownLatch(1);
    private final CountDownLatch go = new CountDownLatch(1);
    private final AtomicInteger closedStates = new AtomicInteger();
    private final AtomicInteger inside = new AtomicInteger();
    private final AtomicInteger calls = new AtomicInteger();
    private final AtomicReference<Fence> toSignal = new AtomicReference<>();

    @AfterEach
    void closeRuntime() {
        go.countDown();
        runtime.close();
        assertThat(runtime.device().allocator().statistics().bytesLive())
                .as("bytes of results and inputs still allocated")
                .isZero();
    }

    private VmModule module() {
        return NativeModule.builder("java", 1, State::new)
                .function("mix", "0iIfF_FfIi", ProgramTest::mix)
                .function("same", "0r_r", (s, c) -> c.returnRef(retained(c.ref(Object.class))))
                .attribute("iree.abi.declaration", "sync func @same(%x: tensor<?x2xf32>) -> (%y: tensor<?x2xf32>)")
                .function("any", "0r_r", (s, c) -> c.returnRef(retained(c.ref(Object.class))))
                .function("kind", "0r_i", (s, c) -> c.returnI32(kind(c.ref(Object.class))))
                .attribute(
                        "iree.abi.declaration", "sync func @kind(%x: !hal.buffer {iree.abi.output = 0 : index}) -> i32")
                .function("half", "0r_r", (s, c) -> c.returnRef(retained(c.ref(Object.class))))
                .attribute("iree.abi.declaration", "sync func @half(%x: tensor<2xf16>) -> (%y: tensor<2xf16>)")
                .function("byte", "0r_r", (s, c) -> c.returnRef(retained(c.ref(Object.class))))
                .attribute("iree.abi.declaration", "sync func @byte(%x: tensor<ui8>) -> (%y: tensor<ui8>)")
                .function("list", "0r_r", ProgramTest::list)
                .function("loop", "0v_r", ProgramTest::loop)
                .function("wait", "0v_i", this::waitUntilAllowed)
                .function("one", "0v_i", this::oneAtATime)
                .function("fail", "0v_v", (s, c) -> {
                    throw new IreeException(StatusCode.ABORTED, "as asked");
                })
                .function("crash", "0v_v", (s, c) -> {
                    throw new IllegalStateException("a bug in a Java module");
                })
                .function("forgetful", "0rr_v", (s, c) -> c.ref(Fence.class))
                .attribute("iree.abi.model", "coarse-fences")
                .function("async", "0rrr_r", (s, c) -> {
                    Object input = retained(c.ref(Object.class));
                    assertThat(c.ref(Fence.class)).isNull();
                    Fence signal = c.required(Fence.class);
                    signal.retain();
                    toSignal.set(signal);
                    entered.countDown();
                    c.returnRef(input);
                })
                .attribute("iree.abi.declaration", "async func @async(%x: tensor<2xf32>) -> (%y: tensor<2xf32>)")
                .attribute("iree.abi.model", "coarse-fences")
                .build();
    }

    private final class State implements AutoCloseable {
        @Override
        public void close() {
            closedStates.incrementAndGet();
        }
    }

    private static void mix(Object state, VmCall call) {
        int i = call.i32();
        long l = call.i64();
        float f = call.f32();
        double d = call.f64();
        call.returnF64(d);
        call.returnF32(f);
        call.returnI64(l);
        call.returnI32(i);
    }

    private static Object retained(Object object) {
        if (object instanceof io.github.iree4j.lifetime.RefCounted counted) {
            counted.retain();
        }
        return object;
    }

    private static int kind(Object object) {
        return object instanceof BufferView ? 1 : object instanceof Buffer ? 2 : 0;
    }

    private static void list(Object state, VmCall call) {
        VmList inner = VmList.ofVariants(2);
        inner.push(7L);
        VmList outer = VmList.ofVariants(3);
        outer.push(call.ref(Object.class));
        outer.push(inner);
        outer.push(null);
        inner.release();
        call.returnRef(outer);
    }

    private static void loop(Object state, VmCall call) {
        VmList list = VmList.ofVariants(1);
        for (int i = 0; i < 30; i++) {
            VmList around = VmList.ofVariants(2);
            around.push(list);
            around.push(list);
            list.release();
            list = around;
        }
        call.returnRef(list);
    }

    private void waitUntilAllowed(Object state, VmCall call) {
        entered.countDown();
        try {
            go.await();
        } catch (InterruptedException e) {
            throw new IreeException(StatusCode.CANCELLED, "interrupted inside", e);
        }
        call.returnI32(calls.incrementAndGet());
    }

    private void oneAtATime(Object state, VmCall call) {
        assertThat(inside.incrementAndGet()).isEqualTo(1);
        Thread.yield();
        inside.decrementAndGet();
        call.returnI32(calls.incrementAndGet());
    }

    private Program program() {
        return runtime.load(ProgramOptions.builder().module(module()).build());
    }

    private static void assertFails(StatusCode code, String message, ThrowingCallable call) {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(call)
                .withMessageContaining(message)
                .satisfies(e -> assertThat(e.code()).isEqualTo(code));
    }

    // -- values

    @Test
    void primitivesGoInAndOut() {
        try (Program program = program();
                Results results = program.function("mix").invoke((byte) 1, 2, 3.5, 4.5f)) {
            assertThat(results.doubleValue(0)).isEqualTo(4.5);
            assertThat(results.floatValue(1)).isEqualTo(3.5f);
            assertThat(results.longValue(2)).isEqualTo(2);
            assertThat(results.intValue(3)).isEqualTo(1);
            assertThat(results.longValue(3)).isEqualTo(1);
            assertThat(results.asList()).containsExactly(4.5, 3.5f, 2L, 1);
            assertFails(StatusCode.INVALID_ARGUMENT, "is a Double, not a Tensor", () -> results.tensor(0));
            assertFails(StatusCode.OUT_OF_RANGE, "no result 4", () -> results.get(4));
        }
    }

    @Test
    void primitivesOfTheWrongKindAreRefused() {
        try (Program program = program()) {
            ProgramFunction mix = program.function("mix");
            assertFails(StatusCode.INVALID_ARGUMENT, "i32", () -> mix.invoke(1.5, 2, 3, 4));
            assertFails(StatusCode.INVALID_ARGUMENT, "i32", () -> mix.invoke(1L << 40, 2, 3, 4));
            assertFails(StatusCode.INVALID_ARGUMENT, "given null", () -> mix.invoke(1, null, 3, 4));
            assertFails(StatusCode.INVALID_ARGUMENT, "given float[1]", () -> mix.invoke(1, 2, new float[1], 4));
        }
    }

    @Test
    void arraysBecomeWhatTheFunctionDeclares() {
        try (Program program = program()) {
            assertThat(call(program, "same", new float[] {1, 2, 3, 4})).isEqualTo("2x2xf32=[1 2][3 4]");
            assertThat(call(program, "same", (Object) new float[][] {{1, 2}})).isEqualTo("1x2xf32=[1 2]");
            assertThat(call(program, "same", (Object) new double[][] {{1, 2}})).isEqualTo("1x2xf32=[1 2]");
            assertThat(call(program, "same", new float[0])).isEqualTo("0x2xf32=");
            assertThat(call(program, "half", new double[] {0.5, 3})).isEqualTo("2xf16=0.5 3");
            assertThat(call(program, "byte", 200)).isEqualTo("ui8=200");
            assertThat(call(program, "byte", new byte[] {-56})).isEqualTo("ui8=200");
            assertThat(call(program, "any", (Object) new int[][] {{1}, {2}})).isEqualTo("2x1xi32=[1][2]");
            assertThat(call(program, "any", true)).isEqualTo("i1=01");
            ProgramFunction same = program.function("same");
            assertFails(StatusCode.INVALID_ARGUMENT, "argument 0 'x'", () -> same.invoke((Object) new float[3]));
            assertFails(StatusCode.INVALID_ARGUMENT, "ragged", () -> same.invoke((Object) new float[][] {{1, 2}, {1}}));
            assertFails(
                    StatusCode.INVALID_ARGUMENT, "ragged", () -> same.invoke((Object) new float[][] {{1, 2}, null}));
            assertFails(StatusCode.INVALID_ARGUMENT, "no array", () -> same.invoke((Object) new String[] {"a"}));
            assertFails(
                    StatusCode.OUT_OF_RANGE,
                    "256",
                    () -> program.function("byte").invoke(256));
        }
    }

    @Test
    void arraysOfObjectsAndBigNumbersAreTakenWholeOrRefused() {
        try (Program program = program()) {
            assertThat(call(program, "same", (Object) new Object[] {new float[] {1, 2}, new float[] {3, 4}}))
                    .isEqualTo("2x2xf32=[1 2][3 4]");
            ProgramFunction any = program.function("any");
            assertFails(
                    StatusCode.INVALID_ARGUMENT,
                    "int[]",
                    () -> any.invoke((Object) new Object[] {new float[1], new int[1]}));
            assertFails(
                    StatusCode.INVALID_ARGUMENT,
                    "String",
                    () -> any.invoke((Object) new Object[] {new float[1], "text"}));
            ProgramFunction one = program.function("byte");
            assertFails(
                    StatusCode.INVALID_ARGUMENT,
                    "BigInteger",
                    () -> one.invoke(java.math.BigInteger.ONE.shiftLeft(64).add(java.math.BigInteger.TWO)));
            assertFails(StatusCode.INVALID_ARGUMENT, "BigDecimal", () -> one.invoke(new java.math.BigDecimal("1.5")));
        }
    }

    private static String call(Program program, String function, Object input) {
        try (Results results = program.function(function).invoke(input)) {
            return results.tensor(0).toString();
        }
    }

    @Test
    void storageOfAResultIsPassedAsBuffer() {
        try (Program program = program();
                Tensor tensor = Tensor.zeros(ElementType.F32, 4);
                Results results = program.function("kind").invoke(tensor)) {
            assertThat(results.intValue(0)).isEqualTo(2);
        }
    }

    @Test
    void listsComeAsListsAndOwnTheirTensors() {
        Results results;
        Tensor inner;
        try (Program program = program()) {
            results = program.function("list").invoke((Object) new float[] {1});
            List<?> list = (List<?>) results.get(0);
            inner = (Tensor) list.get(0);
            assertThat(inner).hasToString("1xf32=1");
            assertThat(list.get(1)).isEqualTo(List.of(7L));
            assertThat(list.get(2)).isNull();
        }
        results.close();
        assertThat(inner.isClosed()).isTrue();
    }

    @Test
    void listsThatExplodeAreRefused() {
        try (Program program = program()) {
            assertFails(
                    StatusCode.RESOURCE_EXHAUSTED,
                    "lists returned",
                    () -> program.function("loop").invoke());
        }
    }

    // -- failures

    @Test
    void failuresOfTheFunctionKeepTheirCode() {
        try (Program program = program()) {
            assertFails(
                    StatusCode.ABORTED,
                    "as asked",
                    () -> program.function("fail").invoke());
            assertFails(
                    StatusCode.ABORTED,
                    "as asked",
                    () -> program.function("fail").invokeWithin(Duration.ofSeconds(50)));
            try (Results again = program.function("one").invoke()) {
                assertThat(again.intValue(0)).isEqualTo(1);
            }
        }
    }

    @Test
    void unexpectedExceptionsOfAModuleReachTheCallerAndLeaveTheProgramUsable() {
        try (Program program = program()) {
            assertThatExceptionOfType(RuntimeException.class)
                    .isThrownBy(() -> program.function("crash").invoke())
                    .withStackTraceContaining("a bug in a Java module");
            assertThat(program.function("crash").invokeAsync())
                    .failsWithin(Duration.ofSeconds(50))
                    .withThrowableThat()
                    .withStackTraceContaining("a bug in a Java module");
            program.function("one").invoke().close();
        }
    }

    @Test
    void modulesThatAreMissingAreNamed() {
        assertFails(
                StatusCode.INVALID_ARGUMENT,
                "at least one module",
                () -> runtime.load(ProgramOptions.builder().build()));
        assertFails(
                StatusCode.NOT_FOUND,
                "there is no driver 'gpu'",
                () -> IreeRuntime.builder().device("gpu").build());
        assertFails(
                StatusCode.NOT_FOUND,
                "installed: local",
                () -> IreeRuntime.builder().device("gpu://0").build());
    }

    // -- threads

    @Test
    void callsRunOneAfterTheOther() throws Exception {
        int threads = 8;
        int perThread = 200;
        try (Program program = program()) {
            ProgramFunction one = program.function("one");
            CyclicBarrier start = new CyclicBarrier(threads);
            List<CompletableFuture<Void>> all = new java.util.ArrayList<>();
            for (int t = 0; t < threads; t++) {
                all.add(CompletableFuture.runAsync(
                        () -> {
                            try {
                                start.await();
                            } catch (Exception e) {
                                throw new AssertionError(e);
                            }
                            for (int i = 0; i < perThread; i++) {
                                one.invoke().close();
                            }
                        },
                        r -> Thread.ofPlatform().start(r)));
            }
            for (CompletableFuture<Void> each : all) {
                each.get();
            }
        }
        assertThat(calls).hasValue(threads * perThread);
    }

    @Test
    void thousandsOfCallsMayWaitForTheirTurn() throws Exception {
        try (Program program = program()) {
            CompletableFuture<Results> first = program.function("wait").invokeAsync();
            entered.await();
            List<CompletableFuture<Results>> waiting = new java.util.ArrayList<>();
            for (int i = 0; i < 2000; i++) {
                waiting.add(program.function("one").invokeAsync());
            }
            assertThat(waiting).noneMatch(CompletableFuture::isDone);
            go.countDown();
            for (CompletableFuture<Results> each : waiting) {
                each.get().close();
            }
            first.get().close();
        }
        assertThat(calls).hasValue(2001);
    }

    @Test
    void callingItsOwnProgramIsRefused() throws Exception {
        AtomicReference<Program> self = new AtomicReference<>();
        VmModule recursive = NativeModule.builder("recursive", 1, Object::new)
                .function(
                        "again", "0v_v", (s, c) -> self.get().function("again").invoke())
                .build();
        try (Program program =
                runtime.load(ProgramOptions.builder().module(recursive).build())) {
            self.set(program);
            assertFails(
                    StatusCode.FAILED_PRECONDITION,
                    "load the program twice",
                    () -> program.function("again").invoke());
        }
    }

    // -- closing

    @Test
    void closingDuringACallLetsItFinishAndRefusesTheNext() throws Exception {
        Program program = program();
        CompletableFuture<Results> running = program.function("wait").invokeAsync();
        entered.await();
        program.close();
        program.close();
        assertThat(program.isClosed()).isTrue();
        assertFails(
                StatusCode.FAILED_PRECONDITION,
                "program 'java' is closed",
                () -> program.function("one").invoke());
        assertFails(
                StatusCode.FAILED_PRECONDITION,
                "closed",
                () -> program.function("one").invokeAsync());
        assertThat(closedStates).as("the running call still needs the state").hasValue(0);
        go.countDown();
        try (Results results = running.get()) {
            assertThat(results.intValue(0)).isEqualTo(1);
        }
        assertThat(closedStates).hasValue(1);
    }

    @Test
    void closingTheRuntimeDuringACallLetsItFinishAndRefusesTheNext() throws Exception {
        Program program = program();
        CompletableFuture<Results> running = program.function("wait").invokeAsync();
        entered.await();
        runtime.close();
        assertFails(
                StatusCode.FAILED_PRECONDITION,
                "closed",
                () -> program.function("one").invoke());
        assertFails(StatusCode.FAILED_PRECONDITION, "runtime is closed", this::program);
        assertFails(StatusCode.FAILED_PRECONDITION, "closed", () -> runtime.upload(Tensor.scalar(1)));
        go.countDown();
        running.get().close();
        assertThat(closedStates).hasValue(1);
        assertThat(runtime.programs()).isEmpty();
    }

    @Test
    void closedInputsAndResultsAreRefused() {
        try (Program program = program()) {
            Tensor input = Tensor.of(new float[2], 1, 2);
            Results results = program.function("same").invoke(input);
            Tensor output = results.tensor(0);
            input.close();
            assertFails(
                    StatusCode.FAILED_PRECONDITION,
                    "argument 0 'x'",
                    () -> program.function("same").invoke(input));
            results.close();
            results.close();
            assertFails(StatusCode.FAILED_PRECONDITION, "closed", () -> results.get(0));
            assertFails(StatusCode.FAILED_PRECONDITION, "closed", output::toFloatArray);
            assertFails(
                    StatusCode.FAILED_PRECONDITION,
                    "closed",
                    () -> program.function("same").invoke(output));
        }
    }

    @Test
    void closingAnInputDuringTheCallKeepsItsMemory() throws Exception {
        try (Program program = program()) {
            Tensor input = Tensor.of(new float[] {1, 2});
            CompletableFuture<Results> running = program.function("async").invokeAsync(input);
            entered.await();
            input.close();
            signal();
            try (Results results = running.get()) {
                assertThat(results.tensor(0).toFloatArray()).containsExactly(1, 2);
            }
        }
    }

    // -- fences, cancellation, time

    private void signal() {
        Fence fence = toSignal.getAndSet(null);
        fence.signal();
        fence.release();
    }

    @Test
    void functionsWithFencesReturnWhenTheirFenceIsReached() throws Exception {
        try (Program program = program()) {
            ProgramFunction function = program.function("async");
            assertThat(function.isAsynchronous()).isTrue();
            assertThat(function.argumentKinds()).isEqualTo("r");
            CompletableFuture<Results> future = function.invokeAsync((Object) new float[] {3, 4});
            entered.await();
            assertThat(future).isNotDone();
            program.function("one").invoke().close(); // the first call waits for its fence, not for its turn
            signal();
            try (Results results = future.get()) {
                assertThat(results.tensor(0).toFloatArray()).containsExactly(3, 4);
            }
        }
    }

    @Test
    void failedFencesFailTheCallAndFreeItsResults() throws Exception {
        try (Program program = program()) {
            CompletableFuture<Results> future = program.function("async").invokeAsync((Object) new float[] {3, 4});
            entered.await();
            Fence fence = toSignal.getAndSet(null);
            fence.fail(new IreeException(StatusCode.DATA_LOSS, "the root cause"));
            fence.release();
            assertThatExceptionOfType(ExecutionException.class)
                    .isThrownBy(future::get)
                    .withCauseInstanceOf(IreeException.class)
                    .withMessageContaining("the root cause");
        }
    }

    @Test
    void fencesThatTheProgramForgetsFailTheCallInsteadOfHangingIt() {
        try (Program program = program()) {
            assertFails(
                    StatusCode.CANCELLED,
                    "semaphore was closed",
                    () -> program.function("forgetful").invoke());
        }
    }

    @Test
    void callsThatTakeTooLongAreGivenUp() throws Exception {
        try (Program program = program()) {
            assertFails(
                    StatusCode.DEADLINE_EXCEEDED,
                    "'java.wait' took longer than PT0.01S",
                    () -> program.function("wait").invokeWithin(Duration.ofMillis(10)));
            program.function("one").invoke().close();
        }
    }

    @Test
    void cancelledCallsDoNotRunOrEndSoon() throws Exception {
        try (Program program = program()) {
            CompletableFuture<Results> running = program.function("wait").invokeAsync();
            entered.await();
            CompletableFuture<Results> waiting = program.function("one").invokeAsync();
            assertThat(waiting.cancel(true)).isTrue();
            assertThatExceptionOfType(CancellationException.class).isThrownBy(waiting::get);
            running.orTimeout(10, TimeUnit.MILLISECONDS);
            assertThatExceptionOfType(ExecutionException.class).isThrownBy(running::get);
            program.function("fail").invokeAsync().exceptionally(e -> null).get();
            assertThat(calls).as("neither ran to its end").hasValue(0);
        }
        awaitEndOfCalls();
        assertThat(closedStates).hasValue(1);
    }

    @Test
    void interruptedCallersGetCancelledAndStayInterrupted() throws Exception {
        try (Program program = program()) {
            CompletableFuture<Results> running = program.function("wait").invokeAsync();
            entered.await();
            Thread.currentThread().interrupt();
            assertFails(
                    StatusCode.CANCELLED,
                    "interrupted",
                    () -> program.function("one").invoke());
            assertThat(Thread.interrupted()).isTrue();
            go.countDown();
            running.get().close();
        }
    }

    @Test
    void resultsNobodyCanReceiveAreFreed() throws Exception {
        try (Program program = program()) {
            for (int i = 0; i < 200; i++) {
                CompletableFuture<Results> future = program.function("same").invokeAsync((Object) new float[] {1, 2});
                if (!future.cancel(true)) {
                    future.get().close();
                }
            }
        } // closeRuntime() sees that no bytes are left
        awaitEndOfCalls();
    }

    /** Calls that were cancelled end on their own threads; a closed program is gone after the last. */
    private void awaitEndOfCalls() {
        while (!runtime.programs().isEmpty()) {
            Thread.onSpinWait();
        }
    }

    // -- leaks

    @Test
    void forgottenResultsAreCountedOnceAndNotFreed() throws Exception {
        try (IreeRuntime own = IreeRuntime.builder().traceLeaks(true).build()) {
            Program program = own.load(ProgramOptions.builder().module(module()).build());
            forget(program);
            program.function("same").invoke((Object) new float[] {1, 2}).close();
            while (own.forgottenResults() == 0) {
                System.gc();
                Thread.onSpinWait();
            }
            System.gc();
            assertThat(own.forgottenResults()).isEqualTo(1);
            assertThat(own.device().allocator().statistics().bytesLive()).isPositive();
        }
    }

    private static void forget(Program program) {
        program.function("same").invoke((Object) new float[] {1, 2});
    }
}
