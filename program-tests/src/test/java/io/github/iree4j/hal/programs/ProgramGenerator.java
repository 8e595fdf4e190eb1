package io.github.iree4j.hal.programs;

import io.github.iree4j.hal.programs.EffectGenerator.Memory;
import io.github.iree4j.hal.programs.QueueProgram.Backend;
import io.github.iree4j.hal.programs.QueueProgram.Block;
import io.github.iree4j.hal.programs.QueueProgram.DeviceSetup;
import io.github.iree4j.hal.programs.QueueProgram.Effect;
import io.github.iree4j.hal.programs.QueueProgram.Fault;
import io.github.iree4j.hal.programs.QueueProgram.Fill;
import io.github.iree4j.hal.programs.QueueProgram.Kind;
import io.github.iree4j.hal.programs.QueueProgram.Look;
import io.github.iree4j.hal.programs.QueueProgram.Node;
import io.github.iree4j.hal.programs.QueueProgram.Point;
import io.github.iree4j.hal.programs.QueueProgram.Range;
import io.github.iree4j.hal.programs.QueueProgram.Setup;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Makes programs: the same from the same seed.
 *
 * <p>Other generators here draw accesses to memory and derive the needed waits. This generator draws waits and signals
 * first, with several nodes per timeline and several signals per node, computes what these {@linkplain Precedence
 * prove}, and then lets a node access any permitted bytes. So most orders follow from long detours, no wait is there
 * for a particular access, and no timeline belongs to a single operation or invocation.
 */
final class ProgramGenerator {
    private static final int PAGE = 4096;

    private final long seed;
    private final Random random;
    private final Precedence order = new Precedence();
    private final List<Node> nodes = new ArrayList<>();
    private final List<DeviceSetup> devices = new ArrayList<>();
    private final EffectGenerator effects;
    private final boolean tight; // memory is short
    private final int pages; // of each block then, or at most
    private final int width; // the most waits, usually
    private final int sharing; // of ten signals, the share on existing lines
    private int faults; // still to be made

    /** A node in the making. */
    private final class Draft {
        final int device = random.nextInt(devices.size());
        final List<Point> waits = new ArrayList<>();
        final BitSet past = new BitSet();
        final List<Effect> does = new ArrayList<>();

        void waitFor(Point point) {
            waits.add(point);
            past.or(order.before(point));
        }

        /** Waits for a node, by any value reached by this node alone. */
        void waitFor(int node) {
            if (past.get(node)) {
                return;
            }
            List<Point> signals = nodes.get(node).signals();
            Point point = signals.get(random.nextInt(signals.size()));
            long gap = point.value() - order.below(point);
            waitFor(new Point(point.line(), point.value() - (random.nextInt(3) == 0 ? random.nextLong(gap) : 0)));
        }

        void waitForAnything(int most) {
            for (int i = random.nextInt(most + 1); i > 0 && order.lines() > 0; i--) {
                int line = order.lines() - 1 - random.nextInt(Math.min(order.lines(), 12));
                long top = order.top(line);
                waitFor(new Point(line, random.nextBoolean() ? top : 1 + random.nextLong(top)));
            }
        }
    }

    private ProgramGenerator(long seed, Set<Backend> present) {
        this.seed = seed;
        this.random = new Random(seed * 0x9E3779B97F4A7C15L);
        this.tight = random.nextInt(3) == 0;
        this.pages = 1 + random.nextInt(16);
        this.width = random.nextInt(4) == 0 ? 13 : 3;
        this.sharing = random.nextInt(10);
        this.faults = random.nextInt(5) < 2 ? 1 + random.nextInt(3) : 0;
        this.effects = new EffectGenerator(random, devices);
        List<Backend> drawn =
                List.of(Backend.CPU, Backend.CPU, Backend.CUDA, Backend.CUDA, Backend.HIP, Backend.HIP, Backend.VULKAN);
        for (int i = 1 + random.nextInt(3); i > 0; i--) {
            Backend backend = drawn.get(random.nextInt(drawn.size()));
            int queues = 1 + random.nextInt(random.nextInt(3) == 0 ? 20 : 4);
            int workers = 1 + random.nextInt(3);
            devices.add(new DeviceSetup(present.contains(backend) ? backend : Backend.CPU, queues, workers, 0));
        }
    }

    /**
     * Makes a program of anything, in any order.
     *
     * @param present the devices present; a CPU takes the place of others
     */
    static QueueProgram mix(long seed, Set<Backend> present) {
        ProgramGenerator generator = new ProgramGenerator(seed, present);
        generator.mix();
        return generator.program(generator.tight);
    }

    /**
     * Makes a program with small requests for memory following each other without a gap, and a request for all memory
     * due for a turn.
     */
    static QueueProgram crowd(long seed, Set<Backend> present) {
        ProgramGenerator generator = new ProgramGenerator(seed, present);
        generator.crowd();
        return generator.program(true);
    }

    private QueueProgram program(boolean limited) {
        int capacity = switch (random.nextInt(5)) {
            case 0 -> 1 + random.nextInt(3);
            case 1 -> 1 + random.nextInt(255);
            case 2 -> 255;
            default -> 12;
        };
        Setup setup = new Setup(capacity, 1 + random.nextInt(16), 1 + random.nextInt(4), devices);
        List<Block> blocks = effects.blocks();
        QueueProgram unlimited = new QueueProgram(
                seed, setup, order.lines(), blocks, effects.recordings(), List.copyOf(nodes), submission());
        double factor = 1.05 + (random.nextBoolean() ? 0 : random.nextDouble() * 2);
        return limited ? unlimited.with(MemoryNeed.budgets(unlimited, order, factor)) : unlimited;
    }

    private void mix() {
        for (int i = 0; i < devices.size(); i++) {
            effects.record(i);
        }
        int most = 20 + random.nextInt(50);
        while (nodes.size() < most) {
            int dice = random.nextInt(20);
            if (dice < 2 || effects.memories().isEmpty()) {
                alloca(anyDraft());
            } else if (dice < 4) {
                dealloca(effects.anyMemory(), 1);
            } else if (dice < 7) {
                byHand();
            } else if (dice < (tight ? 15 : 8)) {
                episode();
            } else {
                step();
            }
        }
        for (Memory memory : effects.memories()) {
            if (random.nextInt(4) > 0) {
                dealloca(memory, 1);
            }
        }
    }

    private void crowd() {
        List<Integer> last = new ArrayList<>(List.of(-1, -1, -1));
        for (int round = 0; round < 50; round++) {
            for (int chain = 0; chain < last.size(); chain++) {
                requests(0, PAGE - 256, chain, last.get(chain));
                last.set(chain, nodes.size() - 1);
            }
            if (round == 5) {
                requests(0, 16 * PAGE, last.size(), last.getFirst());
            }
        }
    }

    /** Memory for a while, allocated after a node. */
    private void requests(int device, int size, int consumer, int after) {
        Draft draft = new Draft();
        if (after >= 0) {
            draft.waitFor(after);
        }
        Memory memory = effects.memory(device, size, consumer, nodes.size());
        add(draft, device, Kind.ALLOCA, memory.index, -1, List.of(), null);
        Draft use = new Draft();
        use.waitFor(memory.alloca);
        add(use, device, Kind.DEFERRED_CALL, -1, -1, List.of(), null);
        Draft free = new Draft();
        free.waitFor(nodes.size() - 1);
        memory.dealloca = nodes.size();
        add(free, device, Kind.DEALLOCA, memory.index, -1, List.of(), null);
    }

    /** Operations in any order with all needed handles present. */
    private List<Integer> submission() {
        List<Integer> any = new ArrayList<>();
        nodes.stream().filter(n -> n.kind() != Kind.BY_HAND).forEach(n -> any.add(n.index()));
        int displacement = random.nextBoolean() ? any.size() : 1 + random.nextInt(8);
        for (int from = 0; from < any.size(); from += displacement) {
            Collections.shuffle(any.subList(from, Math.min(any.size(), from + displacement)), random);
        }
        List<Integer> submission = new ArrayList<>();
        Set<Integer> there = new HashSet<>();
        for (int index : any) {
            for (int block : nodes.get(index).handles()) {
                int alloca = effects.memories().get(block).alloca;
                if (there.add(alloca)) {
                    submission.add(alloca);
                }
            }
            if (there.add(index)) {
                submission.add(index);
            }
        }
        return submission;
    }

    private Draft anyDraft() {
        Draft draft = new Draft();
        draft.waitForAnything(width);
        return draft;
    }

    private Memory alloca(Draft draft) {
        boolean isUnequal = seed % 2 == 0;
        int size = tight
                ? (isUnequal ? 1 + random.nextInt(pages) : pages) * PAGE - 4 * random.nextInt(100)
                : 4 * (1 + random.nextInt(1024));
        Memory memory = effects.memory(draft.device, size, random.nextInt(3), nodes.size());
        add(draft, draft.device, Kind.ALLOCA, memory.index, -1, List.of(), null);
        return memory;
    }

    private void dealloca(Memory memory, int late) {
        if (memory.dealloca >= 0) {
            return;
        }
        if (memory.shown && random.nextInt(3) == 0) {
            Draft look = after(memory);
            look.does.add(new Look(new Range(memory.index, 0, memory.size)));
            add(look, look.device, Kind.HOST_CALL, -1, -1, List.of(), null);
        }
        Draft draft = after(memory);
        draft.waitForAnything(late);
        memory.dealloca = nodes.size();
        add(draft, memory.device, Kind.DEALLOCA, memory.index, -1, List.of(), null);
    }

    /** Waits for all users of memory. */
    private Draft after(Memory memory) {
        Draft draft = new Draft();
        memory.users().forEach(draft::waitFor);
        draft.waitFor(memory.alloca);
        return draft;
    }

    /** Memory for a few steps, without further needs: however little is left, others get the memory afterwards. */
    private void episode() {
        Memory memory = alloca(anyDraft());
        for (int i = 1 + random.nextInt(3); i > 0; i--) {
            Draft draft = new Draft();
            draft.waitFor(nodes.size() - 1);
            step(draft);
        }
        dealloca(memory, 0);
    }

    /**
     * The host signals, or fails, timelines: late, in any order, some values in vain, perhaps after a wait of the
     * thread itself.
     */
    private void byHand() {
        Draft draft = new Draft();
        boolean racing = random.nextBoolean();
        if (random.nextInt(3) == 0) {
            draft.waitForAnything(2);
        }
        List<Point> signals = signals(draft.past, random.nextInt(3) == 0 ? 3 : 1);
        Fault fault = fails(6) ? Fault.BY_HAND : null;
        int pause = random.nextInt(3) == 0 ? 0 : random.nextInt(2000);
        boolean external = signals.size() == 1 && random.nextInt(4) == 0;
        add(new Node(
                nodes.size(),
                Kind.BY_HAND,
                -1,
                0,
                draft.waits,
                signals,
                -1,
                -1,
                List.of(),
                List.of(),
                fault,
                pause,
                racing,
                external));
    }

    private boolean fails(int seldom) {
        boolean fails = faults > 0 && random.nextInt(seldom) == 0;
        faults -= fails ? 1 : 0;
        return fails;
    }

    private void step() {
        Draft draft = anyDraft();
        if (random.nextInt(3) > 0) { // otherwise the outcome is a matter of luck
            Memory memory = effects.anyMemory();
            draft.waitFor(memory.alloca);
            List<Integer> users = memory.users();
            for (int i = random.nextInt(3); i > 0 && !users.isEmpty(); i--) {
                draft.waitFor(users.get(random.nextInt(Math.min(3, users.size()))));
            }
        }
        nodes.stream().filter(n -> n.fault() != null && random.nextInt(6) == 0).forEach(n -> draft.waitFor(n.index()));
        if (!misuse(draft)) {
            step(draft);
        }
    }

    private void step(Draft draft) {
        int dice = random.nextInt(12);
        if (dice < 4) {
            boolean deferred = dice < 2;
            for (int i = random.nextInt(4); i > 0; i--) {
                does(draft, true);
            }
            Fault fault = !fails(3) ? null : deferred && random.nextBoolean() ? Fault.FAILED_LATER : Fault.THROWS;
            add(draft, draft.device, deferred ? Kind.DEFERRED_CALL : Kind.HOST_CALL, -1, -1, List.of(), fault);
            return;
        }
        List<Range> bindings = new ArrayList<>();
        if (dice < 6 && effects.execute(draft.device, draft.past, bindings, draft.does) instanceof Integer recording) {
            add(draft, draft.device, Kind.EXECUTE, -1, recording, bindings, null);
            return;
        }
        if (dice > 6) {
            does(draft, false);
        }
        add(draft, draft.device, draft.does.isEmpty() ? Kind.BARRIER : Kind.COMMAND, -1, -1, List.of(), null);
    }

    private void does(Draft draft, boolean byHost) {
        if (effects.effect(draft.device, draft.past, byHost) instanceof Effect effect) {
            draft.does.add(effect);
        }
    }

    /** Makes an operation with a certain failure of its own; false at the wrong time, or without memory. */
    private boolean misuse(Draft draft) {
        Memory memory = effects.anyMemory();
        if (!effects.isUsable(draft.device, memory) || !fails(12)) {
            return false;
        }
        boolean late = memory.dealloca >= 0;
        if (late) {
            draft.waitFor(memory.dealloca);
        }
        Range range = late ? new Range(memory.index, 0, 4) : new Range(memory.index, memory.size - 4, 8);
        draft.does.add(new Fill(range, 0x55, 4));
        Fault fault = late ? Fault.AFTER_DEALLOCA : Fault.OUT_OF_RANGE;
        add(draft, draft.device, Kind.COMMAND, -1, -1, List.of(), fault);
        return true;
    }

    private List<Point> signals(BitSet past, int count) {
        List<Point> signals = new ArrayList<>();
        Set<Integer> taken = new HashSet<>();
        for (int i = 0; i < count; i++) {
            List<Integer> open = new ArrayList<>();
            for (int line = 0; line < order.lines(); line++) {
                if (!taken.contains(line) && order.maySignal(line, past)) {
                    open.add(line);
                }
            }
            boolean shared = !open.isEmpty() && random.nextInt(10) < sharing;
            int line = shared ? open.get(open.size() - 1 - random.nextInt(Math.min(8, open.size()))) : order.newLine();
            taken.add(line);
            signals.add(new Point(line, order.top(line) + 1 + (random.nextInt(3) == 0 ? random.nextInt(9) : 0)));
        }
        return signals;
    }

    private void add(
            Draft draft, int device, Kind kind, int block, int recording, List<Range> bindings, @Nullable Fault fault) {
        int queue = random.nextInt(devices.get(device).queues());
        int points = random.nextInt(10);
        List<Point> signals = signals(draft.past, points < 5 ? 1 : points < 9 ? 2 : 8);
        int pause = kind == Kind.DEFERRED_CALL && random.nextInt(3) > 0 ? 1 + random.nextInt(1000) : 0;
        add(new Node(
                nodes.size(),
                kind,
                device,
                queue,
                draft.waits,
                signals,
                block,
                recording,
                bindings,
                draft.does,
                fault,
                pause,
                false,
                false));
    }

    private void add(Node node) {
        nodes.add(node);
        order.add(node);
        effects.add(node);
    }
}
