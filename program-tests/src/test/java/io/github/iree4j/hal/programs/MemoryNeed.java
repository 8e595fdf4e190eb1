package io.github.iree4j.hal.programs;

import io.github.iree4j.hal.programs.QueueProgram.Backend;
import io.github.iree4j.hal.programs.QueueProgram.Block;
import io.github.iree4j.hal.programs.QueueProgram.DeviceSetup;
import io.github.iree4j.hal.programs.QueueProgram.Kind;
import io.github.iree4j.hal.programs.QueueProgram.Node;
import io.github.iree4j.hal.programs.QueueProgram.Point;
import io.github.iree4j.hal.programs.Verdicts.Verdict;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * The memory needed by a program for every wait for memory to end. Passing blocks are freed without any new memory, so
 * one block at a time is enough; all others may be there together.
 */
final class MemoryNeed {
    private static final long PAGE = 4096;

    private MemoryNeed() {}

    /** The devices of a program with budgets of so many times the need. */
    static List<DeviceSetup> budgets(QueueProgram program, Precedence order, double factor) {
        List<DeviceSetup> limited = new ArrayList<>();
        for (int i = 0; i < program.setup().devices().size(); i++) {
            int index = i;
            DeviceSetup each = program.setup().devices().get(i);
            long budget = (long) (of(program, order, i) * factor);
            boolean keeps = each.backend() != Backend.CPU
                    && program.recordings().stream().anyMatch(r -> r.device() == index);
            budget += keeps ? 2 * Math.max(PAGE, budget / 14) : 0; // slabs for bytes of recordings, a 16th each
            limited.add(new DeviceSetup(each.backend(), each.queues(), each.workers(), budget));
        }
        return limited;
    }

    /** The bytes needed on a device, in whole pages. */
    private static long of(QueueProgram program, Precedence order, int device) {
        Verdicts verdicts = new Verdicts(program);
        Node[] allocas = new Node[program.blocks().size()];
        Node[] deallocas = new Node[allocas.length];
        List<BitSet> cones = new ArrayList<>(); // all possible waits of a node, by node
        for (Node node : program.nodes()) {
            BitSet cone = new BitSet();
            for (Point wait : node.waits()) {
                Node reacher = verdicts.reacher(wait);
                cone.or(cones.get(reacher.index()));
                cone.set(reacher.index());
            }
            cones.add(cone);
            if (node.kind() == Kind.ALLOCA) {
                allocas[node.block()] = node;
            } else if (node.kind() == Kind.DEALLOCA) {
                deallocas[node.block()] = node;
            }
        }
        long lasting = 0;
        long passing = 0;
        for (int i = 0; i < allocas.length; i++) {
            Block block = program.blocks().get(i);
            if (block.device() == device) {
                long bytes = (block.size() + PAGE - 1) / PAGE * PAGE;
                Node dealloca = deallocas[i];
                if (dealloca == null || verdicts.of(dealloca) != Verdict.SUCCEEDS) {
                    lasting += bytes;
                    continue;
                }
                BitSet memory = (BitSet) cones.get(dealloca.index()).clone();
                memory.andNot(order.past(allocas[i].index()));
                memory.clear(allocas[i].index());
                boolean passes =
                        memory.stream().noneMatch(n -> program.nodes().get(n).kind() == Kind.ALLOCA);
                lasting += passes ? 0 : bytes;
                passing = passes ? Math.max(passing, bytes) : passing;
            }
        }
        return lasting + passing;
    }
}
