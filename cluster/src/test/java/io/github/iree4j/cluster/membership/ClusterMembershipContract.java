package io.github.iree4j.cluster.membership;

import static io.github.iree4j.cluster.membership.ClusterViewTests.member;
import static io.github.iree4j.cluster.membership.ClusterViewTests.members;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.status.IreeException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The contract of every membership. */
abstract class ClusterMembershipContract {

    private final List<ClusterMembership> opened = new ArrayList<>();

    /** A node of the cluster of this test, before the join; the number of the node is the incarnation. */
    abstract ClusterMembership node(int number);

    /** Carries the messages of the nodes. */
    final Wire wire = new Wire();

    /** A node after the join, and the views seen. */
    final class Joined implements ClusterMembership.Listener {
        final ClusterMembership membership;
        final BlockingQueue<ClusterView> views = new LinkedBlockingQueue<>();

        Joined(int number) {
            membership = node(number);
            opened.add(membership);
            join(number);
        }

        void join(int number) {
            membership.join(member(number), wire.add(member(number), membership), this);
        }

        @Override
        public void viewChanged(ClusterView view) {
            views.add(view);
        }

        /** Waits for a view with these members. */
        ClusterView await(int... incarnations) throws InterruptedException {
            return await(view -> view.members().equals(members(incarnations)), "a view of " + members(incarnations));
        }

        ClusterView await(Predicate<ClusterView> wanted, String what) throws InterruptedException {
            for (; ; ) {
                ClusterView view = views.poll(30, TimeUnit.SECONDS);
                assertThat(view).as(what).isNotNull();
                if (wanted.test(view)) {
                    return view;
                }
            }
        }
    }

    @AfterEach
    void leave() {
        opened.forEach(ClusterMembership::leave);
    }

    @Test
    void theFirstNodeIsAlone() throws InterruptedException {
        ClusterView first = new Joined(1).await(1);
        assertThat(first.standing(1)).isEqualTo(Standing.PEACE);
    }

    @Test
    void allNodesSeeEachOtherTheOldestFirst() throws InterruptedException {
        for (Joined each : List.of(new Joined(3), new Joined(1), new Joined(2))) {
            each.await(1, 2, 3);
        }
    }

    @Test
    void theLastReportOfANodeReachesAllMembersAndLaterMembers() throws InterruptedException {
        List<Joined> nodes = new ArrayList<>(List.of(new Joined(1), new Joined(2)));
        for (Joined each : nodes) {
            each.await(1, 2);
        }
        Standing last = new Standing(Set.of(1L, 3L), 2, true);
        nodes.get(1).membership.report(new Standing(Set.of(9L), 1, false));
        nodes.get(1).membership.report(last);
        nodes.add(new Joined(3));
        for (Joined each : nodes) {
            each.await(view -> view.members().equals(members(1, 2, 3)) && last.equals(view.standing(2)), "the report");
        }
        nodes.get(1).membership.leave();
        nodes.get(1).membership.report(Standing.PEACE);
    }

    @Test
    void aLeaverIsGoneAndHearsNoMore() throws InterruptedException {
        Joined one = new Joined(1);
        Joined two = new Joined(2);
        one.await(1, 2);
        two.await(1, 2);
        two.membership.leave();
        two.membership.leave();
        two.views.clear();
        one.await(1);
        assertThat(two.views).isEmpty();
    }

    @Test
    void aLeaverJoinsAgainUnderAnotherIdentity() throws InterruptedException {
        Joined one = new Joined(1);
        Joined two = new Joined(2);
        one.await(1, 2);
        two.membership.leave();
        one.await(1);
        two.join(3);
        one.await(1, 3);
        two.await(1, 3);
    }

    @Test
    void joiningTwiceIsRefused() {
        Joined one = new Joined(1);
        assertThatThrownBy(() -> one.membership.join(member(2), Wire.NONE, _ -> {}))
                .isInstanceOf(IreeException.class);
    }
}
