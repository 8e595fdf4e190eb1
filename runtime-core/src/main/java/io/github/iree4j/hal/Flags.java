package io.github.iree4j.hal;

/** Prints bit sets as {@code A|B|0x100}. */
final class Flags {
    private final int[] bits;
    private final String[] names;

    /** Combined bits first, single bits after: the first match is removed from the rest. */
    Flags(int[] bits, String[] names) {
        this.bits = bits;
        this.names = names;
    }

    String format(int value) {
        if (value == 0) {
            return "NONE";
        }
        StringBuilder text = new StringBuilder();
        int left = value;
        for (int i = 0; i < bits.length && left != 0; i++) {
            if ((left & bits[i]) == bits[i]) {
                text.append(text.isEmpty() ? "" : "|").append(names[i]);
                left &= ~bits[i];
            }
        }
        if (left != 0) {
            text.append(text.isEmpty() ? "" : "|").append("0x").append(Integer.toHexString(left));
        }
        return text.toString();
    }
}
