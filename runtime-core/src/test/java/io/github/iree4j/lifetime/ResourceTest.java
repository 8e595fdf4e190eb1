package io.github.iree4j.lifetime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ResourceTest {
    private static final class Counted extends Resource {
        final AtomicInteger destroyed = new AtomicInteger();
        /** Plain on purpose: only the count orders the writes before destroy(). */
        int[] touched = new int[2];

        @Override
        protected String describe() {
            return "counted thing";
        }

        @Override
        protected void destroy() {
            destroyed.incrementAndGet();
            touched = null;
        }
    }

    @Test
    void closingTheOnlyReferenceDestroys() {
        Counted resource = new Counted();
        assertThat(resource.isLive()).isTrue();
        resource.close();
        assertThat(resource.isLive()).isFalse();
        assertThat(resource.destroyed).hasValue(1);
    }

    @Test
    void secondCloseIsHarmless() {
        Counted resource = new Counted();
        resource.retain();
        resource.close();
        resource.close();
        assertThat(resource.isLive())
                .as("the other holder's reference is untouched")
                .isTrue();
        resource.release();
        resource.close();
        assertThat(resource.destroyed).hasValue(1);
    }

    @Test
    void lastHolderDestroysAfterTheCreatorClosed() {
        Counted resource = new Counted();
        resource.retain();
        resource.retain();
        resource.close();
        resource.release();
        assertThat(resource.destroyed).hasValue(0);
        resource.release();
        assertThat(resource.destroyed).hasValue(1);
    }

    @Test
    void retainAfterDestructionNamesTheResource() {
        Counted resource = new Counted();
        resource.close();
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(resource::retain)
                .withMessage("counted thing is closed")
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.FAILED_PRECONDITION));
    }

    @Test
    void releasingTooOftenIsReportedAndDestroysOnce() {
        Counted resource = new Counted();
        resource.release();
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(resource::release)
                .satisfies(e -> assertThat(e.code()).isEqualTo(StatusCode.INTERNAL));
        assertThat(resource.destroyed).hasValue(1);
    }

    /** LIFE-1: two holders and a creator with two closes, racing. */
    @Test
    void racingHoldersDestroyOnceAndAfterTheirLastUse() throws Exception {
        for (int round = 0; round < 2_000; round++) {
            Counted resource = new Counted();
            resource.retain();
            resource.retain();
            CyclicBarrier start = new CyclicBarrier(3);
            AtomicInteger usesAfterDestroy = new AtomicInteger();
            Thread[] threads = new Thread[3];
            for (int i = 0; i < 3; i++) {
                int me = i;
                threads[i] = Thread.ofVirtual().start(() -> {
                    try {
                        start.await();
                        if (me == 2) {
                            resource.close();
                            resource.close();
                            return;
                        }
                        int[] touched = resource.touched;
                        if (touched == null) {
                            usesAfterDestroy.incrementAndGet();
                        } else {
                            touched[me]++;
                        }
                        resource.release();
                    } catch (Exception e) {
                        throw new AssertionError(e);
                    }
                });
            }
            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(resource.destroyed).as("round %s", round).hasValue(1);
            assertThat(usesAfterDestroy).as("round %s", round).hasValue(0);
        }
    }
}
