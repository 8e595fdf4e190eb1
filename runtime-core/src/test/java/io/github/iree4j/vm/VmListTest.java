package io.github.iree4j.vm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.iree4j.lifetime.Resource;
import io.github.iree4j.status.IreeException;
import io.github.iree4j.status.StatusCode;
import java.util.Random;
import org.junit.jupiter.api.Test;

class VmListTest {
    @Test
    void numbersConvertToTheElementType() {
        try (VmList bytes = VmList.create(VmType.I8, 0)) {
            bytes.push(0x1FF);
            bytes.push(-1L);
            bytes.push(3.7f);
            assertThat(bytes.i32(0)).isEqualTo(-1);
            assertThat(bytes.i64(1)).isEqualTo(-1L);
            assertThat(bytes.i32(2)).as("an integer from a float").isZero();
            assertThat(bytes.f32(0)).as("a float from an integer").isZero();
            assertThat(bytes.get(0)).isEqualTo((byte) -1);
        }
        try (VmList doubles = VmList.create(VmType.F64, 0)) {
            doubles.push(1.5f);
            doubles.push(0.1);
            assertThat(doubles.f64(0)).isEqualTo(1.5);
            assertThat(doubles.f32(1)).isEqualTo(0.1f);
            assertThat(doubles.i32(0)).isZero();
        }
    }

    @Test
    void aVariantListKeepsTheTypeOfEachElement() {
        VmBuffer buffer = VmBuffer.ofUtf8("x");
        try (VmList list = VmList.ofVariants(2)) {
            list.push(7);
            list.push(8L);
            list.push(0.5f);
            list.push(0.25);
            list.push(buffer);
            list.push(null);
            assertThat(java.util.stream.IntStream.range(0, list.size()).mapToObj(list::get))
                    .containsExactly(7, 8L, 0.5f, 0.25, buffer, null);
            assertThat(list.ref(4)).isSameAs(buffer);
            assertFails(
                    () -> list.ref(0),
                    StatusCode.FAILED_PRECONDITION,
                    "element 0 of list of 6 !vm.opaque is not a reference");
            assertFails(
                    () -> list.i32(4),
                    StatusCode.FAILED_PRECONDITION,
                    "element 4 of list of 6 !vm.opaque is not a number");
            list.set(4, 1);
            assertThat(list.get(4)).isEqualTo(1);
        }
    }

    @Test
    void listOfReferencesTakesItsTypeOnly() {
        try (VmList list = VmList.create(VmType.ref("vm.buffer", VmBuffer.class), 1)) {
            list.push(VmBuffer.ofUtf8("x"));
            assertFails(() -> list.set(0, "text"), StatusCode.INVALID_ARGUMENT, "cannot hold a String");
            assertFails(() -> list.push("text"), StatusCode.INVALID_ARGUMENT, "cannot hold a String");
            assertFails(() -> list.set(0, 1), StatusCode.FAILED_PRECONDITION, "cannot hold numbers");
            assertThat(list.size()).isEqualTo(1);
        }
        try (VmList list = VmList.create(VmType.I32, 1)) {
            list.resize(1);
            assertFails(() -> list.set(0, "text"), StatusCode.FAILED_PRECONDITION, "cannot hold references");
        }
    }

    @Test
    void indexOutsideIsOutOfRange() {
        try (VmList list = VmList.create(VmType.I32, 8)) {
            list.resize(2);
            for (int index : new int[] {2, 7, -1, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
                assertFails(() -> list.i32(index), StatusCode.OUT_OF_RANGE, "is outside of list of 2 i32");
            }
            list.setI32(1, 5);
            list.resize(1);
            list.resize(2);
            assertThat(list.i32(1)).as("after shrinking and growing").isZero();
        }
    }

    @Test
    void theBudgetIsReleasedWithTheList() {
        MemoryBudget budget = new MemoryBudget(1 << 20);
        Random random = new Random(20261120);
        for (int i = 0; i < 100; i++) {
            VmList list = VmList.create(VmType.ANY, random.nextInt(100), budget);
            list.resize(random.nextInt(1000));
            list.reserve(random.nextInt(2000));
            list.resize(random.nextInt(1000));
            list.close();
            assertThat(budget.used()).as("round %d of seed 20261120", i).isZero();
        }
    }

    @Test
    void closedListCannotBeUsed() {
        VmList list = VmList.create(VmType.I32, 1);
        list.close();
        list.close();
        assertFails(() -> list.resize(5), StatusCode.FAILED_PRECONDITION, "is closed");
        assertFails(() -> list.i32(0), StatusCode.OUT_OF_RANGE, "is outside");
    }

    @Test
    void elementsAreReleasedWithTheListAndWhenOverwritten() {
        int[] freed = {0};
        class Element extends Resource {
            @Override
            protected void destroy() {
                freed[0]++;
            }
        }
        VmList list = VmList.ofVariants(0);
        for (int i = 0; i < 3; i++) {
            Element element = new Element();
            list.push(element);
            element.close();
        }
        list.set(0, 1);
        assertThat(freed[0]).isEqualTo(1);
        list.resize(2);
        assertThat(freed[0]).isEqualTo(2);
        list.close();
        assertThat(freed[0]).isEqualTo(3);
    }

    private static void assertFails(Runnable use, StatusCode code, String message) {
        assertThatExceptionOfType(IreeException.class)
                .isThrownBy(use::run)
                .withMessageContaining(message)
                .matches(e -> e.code() == code, code.toString());
    }
}
