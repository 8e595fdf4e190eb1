package io.github.iree4j.cluster.membership;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.iree4j.hal.remote.NodeIdentity;
import io.github.iree4j.status.IreeException;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ClusterViewTests {

    static ClusterMember member(int incarnation) {
        return new ClusterMember(new NodeIdentity(-5, incarnation, 1, incarnation), "host" + incarnation, 7600);
    }

    static List<ClusterMember> members(int... incarnations) {
        return Arrays.stream(incarnations).mapToObj(ClusterViewTests::member).toList();
    }

    private static ClusterView merge(List<List<ClusterMember>> groups) {
        return new ClusterView(1, groups.stream().flatMap(List::stream).toList(), groups);
    }

    @Test
    void membersSurviveEncoding() {
        for (ClusterMember each : List.of(
                member(1),
                new ClusterMember(new NodeIdentity(Long.MIN_VALUE, 255, 255, Long.MAX_VALUE), "h".repeat(200), 65535),
                new ClusterMember(new NodeIdentity(0, 0, 1, 1), "fe80::1%eth0", 1))) {
            assertThat(ClusterMember.decode(each.encode())).isEqualTo(each);
            assertThat(each.encode()).hasSizeLessThanOrEqualTo(220);
        }
    }

    @Test
    void damagedMembersAreRefused() {
        byte[] intact = member(3).encode();
        for (int length = 0; length < 21; length++) {
            byte[] part = Arrays.copyOf(intact, length);
            assertThatThrownBy(() -> ClusterMember.decode(part)).isInstanceOf(IreeException.class);
        }
        Random random = new Random(1);
        for (int i = 0; i < 2000; i++) {
            byte[] noise = new byte[random.nextInt(260)];
            random.nextBytes(noise);
            try {
                ClusterMember.decode(noise);
            } catch (IreeException e) {
                assertThat(e).hasMessageContaining("not a member");
            }
        }
    }

    @Test
    void withinAGroupTheLowerIncarnationStays() {
        ClusterView view = new ClusterView(1, members(4, 9), List.of());
        assertThat(view.yields(9, 4)).isTrue();
        assertThat(view.yields(4, 9)).isFalse();
    }

    @Test
    void afterAMergeTheLargerGroupStaysEvenIfAPausedNodeIsOlder() {
        ClusterView view = merge(List.of(members(1), members(2, 3)));
        assertThat(view.yields(1, 2)).isTrue();
        assertThat(view.yields(1, 3)).isTrue();
        assertThat(view.yields(2, 1)).isFalse();
    }

    @Test
    void ofEqualGroupsTheOneWithTheLowestIncarnationStays() {
        ClusterView view = merge(List.of(members(3, 2), members(1, 4)));
        assertThat(view.yields(3, 4)).isTrue();
        assertThat(view.yields(4, 3)).isFalse();
    }

    @Test
    void exactlyOneOfTwoYieldsWhateverTheGroups() {
        Random random = new Random(2);
        for (int round = 0; round < 500; round++) {
            List<List<ClusterMember>> groups = Stream.generate(
                            () -> (List<ClusterMember>) new java.util.ArrayList<ClusterMember>())
                    .limit(1 + random.nextInt(4))
                    .toList();
            int members = 2 + random.nextInt(8);
            for (int i = 1; i <= members; i++) {
                if (random.nextInt(8) > 0) {
                    groups.get(random.nextInt(groups.size())).add(member(i));
                }
            }
            ClusterView view = merge(groups);
            int one = 1 + random.nextInt(members);
            int other = 1 + random.nextInt(members);
            if (one != other) {
                assertThat(view.yields(one, other)).as("%s", view).isNotEqualTo(view.yields(other, one));
            }
        }
    }
}
