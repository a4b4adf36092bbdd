"""Chosen texts of every kind, by name."""

from __future__ import annotations

import unicodedata

FEW = {
    "empty": "",
    "a space": " ",
    "spaces": "    ",
    "line ends": "\n\n \r\n",
    "tabs": "\t\t",
    "no-break spaces": "\u00a0\u2003\u3000",
    "one token": "STAT5",
    "one letter": "a",
    "one mark": ".",
    "spaces around": "  STAT5 binds the AP-1 site .  \n",
    "spaces inside": "STAT5   binds \n\n the AP-1\tsite .",
    "emoji": "😀 STAT5 👩‍👩‍👧‍👦 T cells 🇩🇪",
    "combining": "e\u0301\u0323 STAT5\u0308 T cells\u0301",
    "combining alone": "\u0301 \u0308",
    "zero width": "STAT5\u200b T\u200dcells \ufeff",
    "right to left": "החלבון STAT5 בתאים",
    "Chinese": "细胞中的 STAT5 蛋白",
    "Greek and mathematics": "NF-κB ≥ 5 μg·ml⁻¹ İı ß ﬁ",
    "digits of the world": "٣٤٥ ④ Ⅷ ½",
    "beyond the basic plane": "𝔸𝔹 𐍈 \U0010ffff",
    "control characters": "STAT5\x01 T\x7f cells",
    "long word": "A" * 5000,
    "long run of marks": "." * 300,
    "markup": "<b>STAT5</b> &amp; T cells",
    "a script": "</script><script>alert('STAT5')</script> T cells",
    "quotes": "\"STAT5\" 'binds' “the” «AP-1» „site‟ ‹.›",
    "brackets": "((([[[{{{ STAT5 }}}]]])))",
    "an address": "https://example.org/STAT5?a=1&b=%00#T%20cells user@example.org",
    "a path": "C:\\STAT5\\T cells\\nul /dev/null ../../etc",
    "braces of templates": "{{ STAT5 }} {% raw %} {0} %s ${T cells}",
    "ends with a carriage return": "STAT5 binds\r",
    "old line ends": "STAT5 binds\rthe AP-1 site\rin T cells\r",
    "a byte order mark in front": "\ufeffSTAT5 binds T cells .",
    "a byte order mark of the other order": "\ufffeSTAT5 binds T cells .",
    "replacement characters": "\ufffdSTAT5\ufffd T \ufffd\ufffd cells",
    "wrongly decoded": "NF-ÎºB â€” STAT5â€™s T cells",
    "only entities": "STAT5 STAT5 STAT5",
    "capitals": "STAT5 BINDS THE AP-1 SITE IN T CELLS .",
    "changes its length in lower case": "İSTANBUL STAT5 ẞ ŉ ǰ ΐ",
    "letters that look alike": "ЅТАТ5 binds Т сеlls",
    "full width": "ＳＴＡＴ５ ｂｉｎｄｓ Ｔ ｃｅｌｌｓ",
    "soft hyphens": "ST\u00adAT\u00ad5 T cel\u00adls",
    "stacked marks": "S" + "\u0300\u0301\u0302\u0303" * 50 + "TAT5 T cells",
    "flags": "🇩🇪🇫🇷🇯 STAT5 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "skin tones": "👍🏽 STAT5 👩🏿‍🔬 T cells 👨🏻‍⚕️",
    "keycaps": "1️⃣ STAT5 #️⃣ T cells",
    "variation selectors": "STAT5\ufe0f T\ufe0e cells\U000e0100",
    "unassigned and private": "\u0378 STAT5 \ue000 T cells \U000f0000",
    "no characters": "\ufdd0 STAT5 \uffff T cells \U0001fffe",
    "Hangul in parts": "\u1112\u1161\u11ab STAT5 \ud55c",
}
"""For tests that are to be quick."""

_SCRIPTS = {
    "Arabic": "يرتبط البروتين STAT5 بالخلايا التائية.",
    "Hindi": "प्रोटीन STAT5 टी कोशिकाओं में है।",
    "Thai": "โปรตีนSTAT5จับกับทีเซลล์",
    "Tamil": "புரதம் STAT5 செல்களில்",
    "Japanese": "タンパク質STAT5はT細胞に結合する。",
    "Korean": "단백질 STAT5는 T 세포에 결합한다.",
    "Russian": "Белок STAT5 связывает Т-клетки.",
    "Georgian": "ცილა STAT5 უჯრედებში",
    "Armenian": "STAT5 սպիտակուցը բջիջներում",
    "Amharic": "ፕሮቲን STAT5 በሴሎች ውስጥ",
    "Tibetan": "STAT5 ཕྲ་ཕུང་ནང་",
    "Burmese": "STAT5 ပရိုတင်း ဆဲလ်များ",
    "Khmer": "ប្រូតេអ៊ីន STAT5 កោសិកា",
    "Mongolian": "STAT5 ᠮᠣᠩᠭᠣᠯ ᠡᠰ",
    "Cherokee": "ᏣᎳᎩ STAT5 ꮳꮃꭹ",
    "Cuneiform": "𒀀𒁀 STAT5 𒂗𒆠",
    "Egyptian": "𓀀𓁐 STAT5 𓂀",
    "Braille": "⠎⠞⠁⠞⠼⠑ STAT5",
    "Urdu with joiners": "نہیں\u200c STAT5 \u200dخلیے",
    "Vietnamese": "Protein STAT5 gắn với tế bào T ở người.",
}

_SPACES = "\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006"
_SPACES += "\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
_CONTROLS = "".join(map(chr, [*range(1, 9), *range(14, 28), *range(127, 133), 0x9F, 0]))
_INVISIBLE = "\xad\u034f\u061c\u115f\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d"
_INVISIBLE += "\u202e\u2060\u2061\u2066\u2067\u2068\u2069\u206a\ufeff\ufff9\U000e0001"
_TO_NORMALIZE = {
    "accents": "é ñ ü STAT5 Ångström T cellules",
    "ligatures": "ﬁnd STAT5 in ﬂasks ﬃ ĳ",
    "Korean syllables": "단백질 STAT5 세포",
    "half width": "ｶﾞﾀﾝﾊﾟｸ STAT5 Ｔ細胞",
    "circled": "①②③ STAT5 ㎏ ㎖ ½ ™",
    "powers": "10⁻⁶ M STAT5 H₂O T cells",
    "marks in another order": "q\u0307\u0323 q\u0323\u0307 STAT5 \u212b \u2126",
}
_FORMS = ("NFC", "NFD", "NFKC", "NFKD")

_LONG = 10_000
_LONG_TOKENS = {
    "of a letter": "a" * _LONG,
    "of digits": "0123456789" * (_LONG // 10),
    "of hyphens between letters": "a-" * (_LONG // 2),
    "of combining marks": "e" + "\u0301" * (_LONG - 1),
    "of some emoji": "😀" * (_LONG // 20),  # spaCy cuts them one by one, in quadratic time
    "of Chinese": "细胞" * (_LONG // 2),
    "of zero-width joiners": "\u200d" * _LONG,
    "of directions": "\u202e\u202c" * (_LONG // 2),
    "beyond the basic plane": "𝔸" * _LONG,
}
_HUGE = {
    "a sentence of ten thousand tokens": "STAT5 binds T cells and " * (_LONG // 5),
    "ten thousand times one word": "STAT5 " * _LONG,
    "a thousand tiny sentences": "Yes. No. " * 500,
    "sentences of one mark": ". ! ? " * 300,
    "line ends between all": "STAT5\n\nT cells\n\n" * 300,
    "spaces between all": "STAT5" + " " * _LONG + "T cells",
}
_LONE = "\ud800\udbff\udc00\udcff\udfff"

LONE_SURROGATES: dict[str, str] = {
    **{f"surrogate U+{ord(c):04X} alone": c for c in _LONE},
    **{f"surrogate U+{ord(c):04X} in a word": f"STAT5{c} binds T cells ." for c in _LONE},
    "surrogates in the wrong order": "STAT5 \udc00\ud800 T cells",
    "a pair that is no character": "STAT5 \ud83d\ude00 T cells",
}
"""Texts that spaCy refuses."""

UNUSUAL: dict[str, str] = {
    **FEW,
    **_SCRIPTS,
    **{f"space U+{ord(c):04X}": f"STAT5{c}binds{c}{c}T{c}cells{c}" for c in _SPACES},
    **{f"control U+{ord(c):04X}": f"{c}STAT5 T{c}cells {c} .{c}" for c in _CONTROLS},
    **{f"invisible U+{ord(c):04X}": f"{c}STAT5 T{c}cells {c} .{c}" for c in _INVISIBLE},
    **{
        f"{name} in {form}": unicodedata.normalize(form, text)
        for name, text in _TO_NORMALIZE.items()
        for form in _FORMS
    },
    **{f"a long token {name}": f"STAT5 {token} T cells" for name, token in _LONG_TOKENS.items()},
    **_HUGE,
}
"""Texts that a Doc can have, `FEW` among them."""
