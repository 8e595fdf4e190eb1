package io.github.iree4j.cluster.membership;

import java.util.List;
import org.junit.jupiter.api.Test;

class MemoryMembershipTests extends ClusterMembershipContract {

    private final MemoryMembership.Network network = new MemoryMembership.Network();

    @Override
    ClusterMembership node(int number) {
        return new MemoryMembership(network);
    }

    @Test
    void aCutSeparatesAndHealingMerges() throws InterruptedException {
        Joined one = new Joined(1);
        Joined two = new Joined(2);
        Joined three = new Joined(3);
        one.await(1, 2, 3);
        network.cut(List.of((MemoryMembership) one.membership));
        one.await(1);
        two.await(2, 3);
        three.await(2, 3);
        network.heal();
        one.await(1, 2, 3);
        two.await(1, 2, 3);
    }
}
