package io.github.iree4j.spring.ai;

import io.github.iree4j.api.NotForApplications;

/** The refusal of a setting of a model, such as {@code max-tokens must be at least 1, not 0}. */
@NotForApplications
public final class SettingException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    private final String setting;
    private final String value;
    private final String reason;

    /**
     * Creates a refusal.
     *
     * @param setting the name of the setting
     * @param value the refused value
     * @param reason what is wrong, a sentence whose subject is the setting, without a full stop
     */
    public SettingException(String setting, Object value, String reason) {
        super(setting + " " + reason);
        this.setting = setting;
        this.value = String.valueOf(value);
        this.reason = reason;
    }

    /**
     * Refuses a number that is too small.
     *
     * @param least the least allowed value
     * @param value the value of the setting
     * @param setting the name of the setting
     * @throws SettingException if the value is less
     */
    public static void requireAtLeast(long least, long value, String setting) {
        if (value < least) {
            throw new SettingException(setting, value, "must be at least %d, not %d".formatted(least, value));
        }
    }

    /** Returns the name of the setting, also the name of the property below the prefix of the model. */
    public String setting() {
        return setting;
    }

    /** Returns the refused value as a text. */
    public String value() {
        return value;
    }

    /** Returns what is wrong, a sentence whose subject is the setting, without a full stop. */
    public String reason() {
        return reason;
    }
}
