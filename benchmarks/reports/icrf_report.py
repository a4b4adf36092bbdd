def make_report(r):
    return ""
