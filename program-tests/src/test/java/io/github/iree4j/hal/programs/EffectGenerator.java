package io.github.iree4j.hal.programs;

import io.github.iree4j.hal.programs.QueueProgram.Backend;
import io.github.iree4j.hal.programs.QueueProgram.Block;
import io.github.iree4j.hal.programs.QueueProgram.Copy;
import io.github.iree4j.hal.programs.QueueProgram.DeviceSetup;
import io.github.iree4j.hal.programs.QueueProgram.Effect;
import io.github.iree4j.hal.programs.QueueProgram.Fault;
import io.github.iree4j.hal.programs.QueueProgram.Fill;
import io.github.iree4j.hal.programs.QueueProgram.Kind;
import io.github.iree4j.hal.programs.QueueProgram.Look;
import io.github.iree4j.hal.programs.QueueProgram.Node;
import io.github.iree4j.hal.programs.QueueProgram.Range;
import io.github.iree4j.hal.programs.QueueProgram.Recording;
import io.github.iree4j.hal.programs.QueueProgram.Scale;
import io.github.iree4j.hal.programs.QueueProgram.Update;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * Draws the effects of a node on bytes, within the permission of its waits: any range, unaligned and partly overlapping
 * others, with all conflicting accesses {@linkplain Precedence ended for sure}.
 */
final class EffectGenerator {
    private final Random random;
    private final List<DeviceSetup> devices;
    private final List<Memory> memories = new ArrayList<>();
    private final List<Recording> recordings = new ArrayList<>();

    /** An access of memory by a node. */
    record Access(Range range, int node, boolean writes) {}

    /** A block with the accesses so far. */
    static final class Memory {
        final int index;
        final int device;
        final int size;
        final boolean shown;
        final int consumer;
        final int alloca;
        int dealloca = -1;
        private final List<Access> accesses = new ArrayList<>();
        private boolean usedByHost;

        private Memory(int index, int device, int size, boolean shown, int consumer, int alloca) {
            this.index = index;
            this.device = device;
            this.size = size;
            this.shown = shown;
            this.consumer = consumer;
            this.alloca = alloca;
        }

        /** The accessing nodes, the last first. */
        List<Integer> users() {
            return accesses.reversed().stream().map(Access::node).toList();
        }
    }

    EffectGenerator(Random random, List<DeviceSetup> devices) {
        this.random = random;
        this.devices = devices;
    }

    /** Adds memory allocated by a node. */
    Memory memory(int device, int size, int consumer, int alloca) {
        Memory memory = new Memory(memories.size(), device, size, random.nextInt(4) > 0, consumer, alloca);
        memories.add(memory);
        return memory;
    }

    List<Memory> memories() {
        return memories;
    }

    Memory anyMemory() {
        return memories.get(random.nextInt(memories.size()));
    }

    List<Recording> recordings() {
        return recordings;
    }

    /** The memory as listed in the program. */
    List<Block> blocks() {
        return memories.stream()
                .map(m -> new Block(
                        m.device, m.size, m.shown, !m.usedByHost && random.nextInt(4) == 0, "consumer " + m.consumer))
                .toList();
    }

    /** Records commands shared by nodes. */
    void record(int device) {
        for (int i = random.nextInt(3); i > 0; i--) {
            List<Effect> effects = new ArrayList<>();
            for (int j = 1 + random.nextInt(4); j > 0; j--) {
                int length = 4 * (1 + random.nextInt(Recording.BINDING / 8));
                Range first = new Range(0, 0, length);
                Range second = new Range(1, Recording.BINDING / 2, length);
                effects.add(
                        switch (random.nextInt(4)) {
                            case 0 -> new Fill(second, random.nextLong(), 4);
                            case 1 -> new Update(first, random.nextLong());
                            case 2 -> new Copy(first, second);
                            default -> new Scale(second, first, random.nextInt(), random.nextInt());
                        });
            }
            recordings.add(new Recording(device, 2, effects));
        }
    }

    /** Binds a recording to memory accessible to the node, and adds the effects; null if none is found. */
    @Nullable
    Integer execute(int device, BitSet past, List<Range> bindings, List<Effect> effects) {
        List<Recording> own =
                recordings.stream().filter(r -> r.device() == device).toList();
        if (own.isEmpty()) {
            return null;
        }
        Recording recording = own.get(random.nextInt(own.size()));
        List<Range> drawn = new ArrayList<>();
        for (int i = 0; i < recording.bindings(); i++) {
            Memory memory = accessible(device, past, false);
            int room = memory == null ? -1 : memory.size - Recording.BINDING;
            if (memory == null || room < 0) {
                return null;
            }
            drawn.add(new Range(memory.index, random.nextInt(room / 256 + 1) * 256, Recording.BINDING));
        }
        List<Effect> bound =
                recording.effects().stream().map(e -> bound(e, drawn)).toList();
        if (drawn.get(0).overlaps(drawn.get(1)) || !bound.stream().allMatch(e -> isFree(past, e))) {
            return null;
        }
        bindings.addAll(drawn);
        effects.addAll(bound);
        return recordings.indexOf(recording);
    }

    private static Range bound(Range part, List<Range> bindings) {
        Range binding = bindings.get(part.block());
        return new Range(binding.block(), binding.offset() + part.offset(), part.length());
    }

    private static Effect bound(Effect effect, List<Range> to) {
        return switch (effect) {
            case Fill fill -> new Fill(bound(fill.written(), to), fill.pattern(), fill.width());
            case Update update -> new Update(bound(update.written(), to), update.salt());
            case Copy copy -> new Copy(bound(copy.read(), to), bound(copy.written(), to));
            case Scale scale ->
                new Scale(bound(scale.read(), to), bound(scale.written(), to), scale.factor(), scale.addend());
            case Look look -> new Look(bound(look.read(), to));
        };
    }

    /** Draws an effect for the node; null when none is found. */
    @Nullable
    Effect effect(int device, BitSet past, boolean byHost) {
        for (int tries = 0; tries < 6; tries++) {
            Memory target = accessible(device, past, byHost);
            Memory source = accessible(device, past, byHost);
            if (target == null || source == null) {
                return null;
            }
            Effect effect = effect(target, source, byHost);
            boolean foreign = !byHost && effect instanceof Update && target.device != device; // refused by devices
            if (!foreign && isFree(past, effect)) {
                return effect;
            }
        }
        return null;
    }

    private Effect effect(Memory target, Memory source, boolean byHost) {
        int unit = 1 << random.nextInt(4);
        int most = Math.min(target.size, source.size);
        int length = random.nextBoolean() ? most : 1 + random.nextInt(most);
        Range written = range(target, length, unit);
        return switch (random.nextInt(byHost ? 3 : 4)) {
            case 0 -> new Update(written, random.nextLong());
            case 1 -> new Copy(range(source, length, unit), written);
            case 2 ->
                byHost
                        ? new Look(written)
                        : new Fill(
                                new Range(target.index, written.offset(), length / unit * unit),
                                random.nextLong(),
                                unit);
            default -> {
                int ints = Math.min(length & ~3, 256);
                yield new Scale(range(source, ints, 256), range(target, ints, 256), random.nextInt(), random.nextInt());
            }
        };
    }

    private Range range(Memory memory, int length, int alignment) {
        int places = (memory.size - length) / alignment + 1;
        return new Range(memory.index, alignment * random.nextInt(places), length);
    }

    /** Any present memory that a device, or the host, can use; null for none. */
    private @Nullable Memory accessible(int device, BitSet past, boolean byHost) {
        List<Memory> there = memories.stream()
                .filter(m -> m.dealloca < 0 && past.get(m.alloca))
                .filter(m -> byHost ? m.shown : isUsable(device, m))
                .toList();
        return there.isEmpty() ? null : there.get(random.nextInt(there.size()));
    }

    /**
     * Whether a device can use memory in place: the device's own, or memory visible to the host. Vulkan here uses only
     * its own, and no device uses memory of a GPU.
     */
    boolean isUsable(int device, Memory memory) {
        Backend user = devices.get(device).backend();
        Backend owner = devices.get(memory.device).backend();
        return device == memory.device
                || memory.shown && (user == Backend.CPU || user != Backend.VULKAN && owner == Backend.CPU);
    }

    /** Whether everything in conflict with an effect, nonempty and without a conflict inside, must be over. */
    private boolean isFree(BitSet past, Effect effect) {
        Range read = effect.read();
        Range written = effect.written();
        boolean overlapping = read != null && written != null && read.overlaps(written);
        return !overlapping && isFree(past, read, false) && isFree(past, written, true);
    }

    private boolean isFree(BitSet past, @Nullable Range range, boolean writes) {
        return range == null
                || range.length() > 0
                        && memories.get(range.block()).accesses.stream()
                                .noneMatch(a -> (writes || a.writes) && a.range.overlaps(range) && !past.get(a.node));
    }

    /** Notes the accesses of the next node. */
    void add(Node node) {
        boolean misused = node.fault() == Fault.AFTER_DEALLOCA || node.fault() == Fault.OUT_OF_RANGE;
        for (Effect effect : misused ? List.<Effect>of() : node.effects()) {
            access(node, effect.read(), false);
            access(node, effect.written(), true);
        }
    }

    private void access(Node node, @Nullable Range range, boolean writes) {
        if (range != null) {
            Memory memory = memories.get(range.block());
            memory.accesses.add(new Access(range, node.index(), writes));
            memory.usedByHost |= node.kind() == Kind.HOST_CALL || node.kind() == Kind.DEFERRED_CALL;
        }
    }
}
