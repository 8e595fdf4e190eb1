package io.github.iree4j.hal.pool;

/**
 * The memory of a call with a known need.
 *
 * @param bytes the need
 * @param inputs the part of the need taken by inputs
 */
public record KnownNeed(long bytes, long inputs) implements MemoryEstimate {
    @Override
    public long most() {
        return bytes;
    }

    /**
     * Admits a call that leaves less than an eighth of the room, once earlier calls have given theirs back: at the ends
     * of their operations, one after the other.
     *
     * @param limit of the memory, in bytes
     */
    public static Admission admitForAll(AdmissionGate gate, long limit) {
        for (long need = limit; ; need = need > limit - limit / 8 ? need - 64 : limit) {
            Admission all = gate.committed() == 0 ? gate.tryAdmit("", new KnownNeed(need, 0)) : null;
            if (all != null) {
                return all;
            }
        }
    }
}
