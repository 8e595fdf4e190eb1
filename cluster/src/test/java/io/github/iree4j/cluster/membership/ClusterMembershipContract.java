package io.github.iree4j.cluster.membership;

import static io.github.iree4j.cluster.membership.ClusterViewTests.member;
import static io.github.iree4j.cluster.membership.ClusterViewTests.members;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.status.IreeException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What every membership promises. */
abstract class ClusterMembershipContract {

    private final List<ClusterMembership> opened = new ArrayList<>();

    /** A node of the cluster of this test that has not joined; its number is its incarnation. */
    abstract ClusterMembership node(int number);

    /** A node that has joined, and the views that it saw. */
    final class Joined implements ClusterMembership.Listener {
        final ClusterMembership membership;
        final BlockingQueue<ClusterView> views = new LinkedBlockingQueue<>();
        final BlockingQueue<Map.Entry<ClusterMember, FailureReport>> reports = new LinkedBlockingQueue<>();

        Joined(int number) {
            membership = node(number);
            opened.add(membership);
            membership.join(member(number), this);
        }

        @Override
        public void viewChanged(ClusterView view) {
            views.add(view);
        }

        @Override
        public void reported(ClusterMember member, FailureReport report) {
            reports.add(Map.entry(member, report));
        }

        /** Waits for a view with these members, and checks those before it. */
        ClusterView await(int... incarnations) throws InterruptedException {
            long last = 0;
            for (; ; ) {
                ClusterView view = views.poll(30, TimeUnit.SECONDS);
                assertThat(view).as("a view of " + members(incarnations)).isNotNull();
                assertThat(view.number()).isGreaterThan(last);
                last = view.number();
                if (view.members().size() == incarnations.length
                        && view.members().containsAll(members(incarnations))) {
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
        assertThat(new Joined(1).await(1).merge()).isFalse();
    }

    @Test
    void allNodesSeeEachOtherInOneOrder() throws InterruptedException {
        Joined one = new Joined(1);
        Joined two = new Joined(2);
        Joined three = new Joined(3);
        ClusterView view = one.await(1, 2, 3);
        for (Joined each : List.of(two, three)) {
            ClusterView same = each.await(1, 2, 3);
            assertThat(same.members()).isEqualTo(view.members());
            assertThat(same.number()).isEqualTo(view.number());
        }
    }

    @Test
    void whatANodeReportsReachesAllMembersInOrder() throws InterruptedException {
        List<Joined> nodes = List.of(new Joined(1), new Joined(2), new Joined(3));
        for (Joined each : nodes) {
            each.await(1, 2, 3);
        }
        FailureReport none = new FailureReport(7, Set.of());
        FailureReport some = new FailureReport(7, Set.of(1L, 3L));
        nodes.get(1).membership.report(none);
        nodes.get(1).membership.report(some);
        for (Joined each : nodes) {
            assertThat(each.reports.poll(30, TimeUnit.SECONDS)).isEqualTo(Map.entry(member(2), none));
            assertThat(each.reports.poll(30, TimeUnit.SECONDS)).isEqualTo(Map.entry(member(2), some));
        }
        nodes.get(1).membership.leave();
        nodes.get(1).membership.report(some);
    }

    @Test
    void whoLeavesIsGoneAndHearsNoMore() throws InterruptedException {
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
    void whoLeftJoinsAgainUnderAnotherIdentity() throws InterruptedException {
        Joined one = new Joined(1);
        Joined two = new Joined(2);
        one.await(1, 2);
        two.membership.leave();
        one.await(1);
        two.membership.join(member(3), two);
        one.await(1, 3);
        two.await(1, 3);
    }

    @Test
    void joiningTwiceIsRefused() {
        Joined one = new Joined(1);
        assertThatThrownBy(() -> one.membership.join(member(2), _ -> {})).isInstanceOf(IreeException.class);
    }
}
