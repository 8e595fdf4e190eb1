package io.github.iree4j;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.async.Fence;
import io.github.iree4j.hal.Buffer;
import io.github.iree4j.hal.BufferView;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmCall;
import io.github.iree4j.vm.VmList;
import io.github.iree4j.vm.VmModule;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;

/** A program of a module in Java, with functions for each event of a call. */
abstract class ProgramFixture {
    final IreeRuntime runtime = IreeRuntime.create();

    final CountDownLatch entered = new CountDownLatch(1);

    final CountDownLatch go = new CountDownLatch(1);

    final AtomicInteger closedStates = new AtomicInteger();

    final AtomicInteger inside = new AtomicInteger();

    final AtomicInteger calls = new AtomicInteger();

    final AtomicReference<Fence> toSignal = new AtomicReference<>();

    @AfterEach
    void closeRuntime() {
        go.countDown();
        runtime.close();
        assertThat(runtime.device().allocator().statistics().bytesLive())
                .as("bytes of results and inputs still allocated")
                .isZero();
    }

    VmModule module() {
        return NativeModule.builder("java", 1, State::new)
                .function("mix", "0iIfF_FfIi", ProgramFixture::mix)
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
                .function("list", "0r_r", ProgramFixture::list)
                .function("loop", "0v_r", ProgramFixture::loop)
                .function("wait", "0v_i", this::waitUntilAllowed)
                .function("one", "0v_i", this::oneAtATime)
                .function("fail", "0v_v", (s, c) -> {
                    throw IreeException.of(StatusCode.ABORTED, "as asked");
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

    final class State implements AutoCloseable {
        @Override
        public void close() {
            closedStates.incrementAndGet();
        }
    }

    static void mix(Object state, VmCall call) {
        int i = call.i32();
        long l = call.i64();
        float f = call.f32();
        double d = call.f64();
        call.returnF64(d);
        call.returnF32(f);
        call.returnI64(l);
        call.returnI32(i);
    }

    static Object retained(Object object) {
        if (object instanceof io.github.iree4j.lifetime.RefCounted counted) {
            counted.retain();
        }
        return object;
    }

    static int kind(Object object) {
        return object instanceof BufferView ? 1 : object instanceof Buffer ? 2 : 0;
    }

    static void list(Object state, VmCall call) {
        VmList inner = VmList.ofVariants(2);
        inner.push(7L);
        VmList outer = VmList.ofVariants(3);
        outer.push(call.ref(Object.class));
        outer.push(inner);
        outer.push(null);
        inner.release();
        call.returnRef(outer);
    }

    static void loop(Object state, VmCall call) {
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

    void waitUntilAllowed(Object state, VmCall call) {
        entered.countDown();
        try {
            go.await();
        } catch (InterruptedException e) {
            throw IreeException.of(StatusCode.CANCELLED, "interrupted inside", e);
        }
        call.returnI32(calls.incrementAndGet());
    }

    void oneAtATime(Object state, VmCall call) {
        assertThat(inside.incrementAndGet()).isEqualTo(1);
        Thread.yield();
        inside.decrementAndGet();
        call.returnI32(calls.incrementAndGet());
    }

    Program program() {
        return runtime.load(ProgramOptions.builder().module(module()).build());
    }

    static void assertFails(StatusCode code, String message, ThrowingCallable call) {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(call)
                .withMessageContaining(message)
                .satisfies(e -> assertThat(e.code()).isEqualTo(code));
    }

    static String call(Program program, String function, Object input) {
        try (Results results = program.function(function).invoke(input)) {
            return results.tensor(0).toString();
        }
    }

    // -- fences, cancellation, time

    void signal() {
        Fence fence = toSignal.getAndSet(null);
        fence.signal();
        fence.release();
    }
}
