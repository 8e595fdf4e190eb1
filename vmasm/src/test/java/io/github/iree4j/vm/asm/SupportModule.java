package io.github.iree4j.vm.asm;

import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import io.github.iree4j.vm.NativeModule;
import io.github.iree4j.vm.VmCall;
import io.github.iree4j.vm.VmTypes;
import io.github.iree4j.vm.VmWait;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The imports of conformance suites: functions with known results, with yields, failures, and returned counted objects.
 */
final class SupportModule {

    /** An object of type {@code !support.tracked}. */
    static final class Tracked extends Resource {
        private final AtomicInteger live;

        private Tracked(AtomicInteger live) {
            this.live = live;
            live.incrementAndGet();
        }

        @Override
        protected void destroy() {
            live.decrementAndGet();
        }
    }

    /** The number of yields of a call so far, and the sum. */
    private static final class Progress {
        private int left;
        private int sum;
    }

    private final AtomicInteger live = new AtomicInteger();

    static VmTypes types() {
        return VmTypes.standard().with("support.tracked", Tracked.class);
    }

    /** Objects returned and not released yet, of all contexts. */
    int live() {
        return live.get();
    }

    NativeModule module() {
        return NativeModule.builder("support", 0, () -> live)
                .function("add", "0ii_i", (s, c) -> c.returnI32(c.i32() + c.i32()))
                .function("mixed", "0iIfFr_FfIir", (s, c) -> {
                    int i = c.i32();
                    long l = c.i64();
                    float f = c.f32();
                    double d = c.f64();
                    Object r = c.required(Object.class);
                    c.returnF64(d + d);
                    c.returnF32(f + f);
                    c.returnI64(l + l);
                    c.returnI32(i + i);
                    if (r instanceof Resource resource) {
                        resource.retain();
                    }
                    c.returnRef(r);
                })
                .function("sum", "0CiDI_I", (s, c) -> {
                    long sum = 0;
                    for (int n = c.spanCount(); n > 0; n--) {
                        sum += c.i32();
                    }
                    c.returnI64(sum + c.i64());
                })
                .function("sum_pairs", "0CIiDi_I", (s, c) -> {
                    long sum = 0;
                    for (int n = c.spanCount(); n > 0; n--) {
                        sum += c.i64();
                        sum += c.i32();
                    }
                    c.returnI64(sum + c.i32());
                })
                .function("fail", "0i_v", (s, c) -> {
                    throw IreeException.of(StatusCode.of(c.i32()), "on purpose");
                })
                .function("tracked", "0v_r", (s, c) -> c.returnRef(new Tracked(s)))
                .function("live", "0v_i", (s, c) -> c.returnI32(s.get()))
                .function("yield_n", "0ii_i", (s, c) -> yieldN(c))
                .function("yield_sum", "0CiDi_i", (s, c) -> yieldSum(c))
                .function("yield_fail", "0ii_v", (s, c) -> {
                    int code = c.i32();
                    if (!yields(c, 0, c.i32())) {
                        throw IreeException.of(StatusCode.of(code), "on purpose, after yielding");
                    }
                })
                .build();
    }

    /** The module imported by IREE's own suite of asynchronous operations. */
    static NativeModule yieldableTestModule() {
        return NativeModule.builder("yieldable_test", 0, Object::new)
                .function("yield_n", "0ii_i", (s, c) -> yieldN(c))
                .function("yield_variadic_sum", "0CiDi_i", (s, c) -> yieldSum(c))
                .build();
    }

    /** Returns the first argument plus one for each yield; the second argument is the number of yields. */
    private static void yieldN(VmCall call) {
        int start = call.i32();
        if (!yields(call, start, call.i32())) {
            call.returnI32(((Progress) call.attachment()).sum);
        }
    }

    private static void yieldSum(VmCall call) {
        int sum = 0;
        for (int n = call.spanCount(); n > 0; n--) {
            sum += call.i32();
        }
        if (!yields(call, sum, call.i32())) {
            call.returnI32(((Progress) call.attachment()).sum);
        }
    }

    private static boolean yields(VmCall call, int start, int times) {
        Progress progress = (Progress) call.attachment();
        if (!call.resumed()) {
            progress = new Progress();
            progress.left = times;
            progress.sum = start;
            call.attach(progress);
        }
        if (progress.left == 0) {
            return false;
        }
        progress.left--;
        progress.sum++;
        call.defer(VmWait.NONE);
        return true;
    }
}
