package io.github.iree4j.hal.pool;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Named calls at a gate. The test advances the clock. */
abstract class GateLine extends DeadlockLine {
    static final long LIMIT = 100;
    static final long PATIENCE = TimeUnit.SECONDS.toNanos(30);
    static final long HOST = TimeUnit.SECONDS.toNanos(1);

    final PoolSet set = bytes(LIMIT);
    final AdmissionGate gate = set.gate();
    final List<String> entered = new ArrayList<>();
    final Map<String, Admission> calls = new HashMap<>();

    /** Of blocks of a byte. */
    final PoolSet bytes(long limit) {
        return bytes(limit, HOST);
    }

    final PoolSet bytes(long limit, long hostPatience) {
        return builder(limit)
                .pool(FakeSlabs.pieces("f", 1))
                .waste(0)
                .quota("small", 40)
                .delayed(this::after)
                .patience(PATIENCE)
                .hostPatience(hostPatience)
                .build();
    }

    /** The need of a call, changeable by the test; below zero for a guess of as much. */
    static class Need implements MemoryEstimate {
        long bytes;

        Need(long bytes) {
            this.bytes = bytes;
        }

        @Override
        public long inputs() {
            return 5;
        }

        @Override
        public long bytes() {
            return Math.abs(bytes);
        }

        @Override
        public long most() {
            return bytes >= 0 ? bytes : LIMIT + 1;
        }
    }

    /** A call, in line unless admitted. */
    Admission call(String name, long need) {
        return call(name, "", new Need(need));
    }

    Admission call(String name, String consumer, Need need) {
        clock.incrementAndGet();
        Admission at = gate.tryAdmit(consumer, need);
        if (at != null) {
            entered.add(name);
        } else {
            at = gate.join(consumer, false, need, false, _ -> entered.add(name));
        }
        calls.put(name, at);
        return at;
    }

    void exit(String name) {
        calls.get(name).exit();
    }

    /** A call whose work waits for a fence; in line unless admitted. */
    Admission ahead(String name, long need) {
        return ahead(name, "", need);
    }

    Admission ahead(String name, String consumer, long need) {
        clock.incrementAndGet();
        Need of = new Need(need);
        Admission at = gate.tryAdmitAhead(consumer, of);
        if (at != null) {
            entered.add(name);
        } else {
            at = gate.join(consumer, false, of, true, _ -> entered.add(name));
        }
        calls.put(name, at);
        return at;
    }
}
